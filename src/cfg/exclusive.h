/*
 * exclusive: places between a load-exclusive and its store-exclusive.
 *
 * Any access to memory there may make the store fail, every time, and the
 * program hang (rewriting.md 5.2): no code that touches memory belongs there.
 * Machines without such instructions have no such places.
 */
#ifndef CFG_EXCLUSIVE_H
#define CFG_EXCLUSIVE_H

#include "cfg/cfg.h"

struct exclusive {
	VEC(struct range) open; /* places [start, end], both included: before
				   the instruction there; by start */
	uint8_t *at_end;	/* bit n: the sequence goes on behind block n */
};

void exclusive_find(struct exclusive *x, const struct cfg *c);
void exclusive_free(struct exclusive *x);
/* the place before the instruction at addr is in such a sequence */
bool exclusive_before(const struct exclusive *x, uint64_t addr);
/* what follows the block is */
bool exclusive_behind(const struct exclusive *x, uint32_t block);

#endif
