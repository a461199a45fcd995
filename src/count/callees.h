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
	VEC(uint64_t) v; /* ascending, after callees_sort() */
};

void callees_gather(struct callees *c, const struct map *m);
void callees_sort(struct callees *c);
bool callees_has(const struct callees *c, uint64_t address);
void callees_free(struct callees *c);

#endif
