/*
 * exclusive: places between a load-exclusive and its store-exclusive.
 *
 * Any access to memory there may make the store fail, every time, and the
 * program hang: no code that touches memory belongs there.
 * A way that leaves the sequence without a store, as compare-and-swap does
 * when the values differ, or that goes back to the load, is not between.
 * Machines without such instructions have no such places.
 */
#ifndef CFG_LIVE_EXCLUSIVE_H
#define CFG_LIVE_EXCLUSIVE_H

#include "cfg/cfg.h"

struct exclusive {
	VEC(struct range) open; /* places [start, end], both included: before
				   the instruction there; by start */
	uint8_t *loaded; /* bit n: a load's store may follow block n */
	uint8_t *stores; /* bit n: block n begins on the way to a store */
};

void exclusive_find(struct exclusive *x, const struct cfg *c);
void exclusive_free(struct exclusive *x);
/* the place before the instruction at addr is in such a sequence */
bool exclusive_before(const struct exclusive *x, uint64_t addr);
/* the edge is */
bool exclusive_on(const struct exclusive *x, const struct cfg *c,
		  uint32_t edge);

#endif
