/*
 * callees: which addresses of an image are called, or jumped to, by other
 * procedures of it, as its map says.
 *
 * Control also comes to the middle of a procedure by a jump of its own that is
 * not understood, by way of the old text. That is no call.
 */
#ifndef COUNT_CALLEES_H
#define COUNT_CALLEES_H

#include "base/dict.h"
#include "count/map.h"

struct callees {
	struct dict is; /* address: 1 */
};

void callees_gather(struct callees *c, const struct map *m);
bool callees_has(const struct callees *c, uint64_t address);
void callees_free(struct callees *c);

#endif
