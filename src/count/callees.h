/*
 * callees: which addresses of an image are called, or jumped to, by other
 * procedures of it, as its map says.
 *
 * Control also comes to the middle of a procedure by a jump of its own that is
 * not understood, by way of the old text. That is no call.
 */
#ifndef COUNT_CALLEES_H
#define COUNT_CALLEES_H

#include "count/map.h"

struct callees {
	uint64_t *v; /* sorted; NULL: not gathered yet */
	uint32_t n;
};

/* gathers them, in the arena, when it is asked for the first time */
bool callees_has(struct callees *c, struct arena *a, const struct map *m,
		 uint64_t address);

#endif
