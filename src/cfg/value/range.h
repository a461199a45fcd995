/*
 * range: how large a value can be at a place.
 *
 * Two sources: how the value is computed (a byte is at most 255, `x & 7` at
 * most 7), and the conditional branches that control must have passed on its
 * way: the condition of a branch holds in all blocks that its edge dominates.
 * At a phi the range is the union over the ways in, each with its own
 * conditions.
 */
#ifndef CFG_VALUE_RANGE_H
#define CFG_VALUE_RANGE_H

#include "cfg/value/value.h"

struct range64 {
	uint64_t lo, hi; /* inclusive */
	bool checked;	 /* a comparison helped to find it */
};

/* the range of a closed value at the end of block */
struct range64 range_at(struct values *s, uint32_t value, uint32_t block);
/* the range of a closed value on in-edge e of a block */
struct range64 range_on_edge(struct values *s, uint32_t value, uint32_t e);

#endif
