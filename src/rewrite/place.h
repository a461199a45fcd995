/*
 * place: where the addresses of one moved part went, for tables that describe
 * it. Unlike addr_map's, its answers never leave the part's body: what lies
 * between two spans (data, padding that was dropped) goes to the next span's
 * beginning, or the last one's end.
 */
#ifndef REWRITE_PLACE_H
#define REWRITE_PLACE_H

#include "rewrite/moved.h"

struct place {
	const struct moved *moved;
	const struct span *span; /* those that hold code of the part */
	size_t nspan;
};

void place_open(struct place *p, const struct moves *m,
		const struct moved *moved);
/* where what belongs to the instruction at the old address begins */
uint64_t place_arrive(const struct place *p, uint64_t old);
/* where the code that ends at the old address ends */
uint64_t place_end(const struct place *p, uint64_t old_end);

#endif
