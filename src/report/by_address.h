/*
 * by_address: the blocks of an image as they lie in it. Procedures may lie
 * inside each other, and the map has their blocks one procedure after the
 * other.
 */
#ifndef REPORT_BY_ADDRESS_H
#define REPORT_BY_ADDRESS_H

#include "profile/counts.h"

/* blocks of a procedure that lie together */
struct block_run {
	uint64_t start, end;	   /* addresses */
	uint32_t proc;
	uint32_t first, last; /* in the map */
};

struct block_runs {
	VEC(struct block_run) v; /* in the order of addresses */
};

/* all, or those of procedures in which something ran, or may have */
void block_runs_make(struct block_runs *r, const struct counts_image *m,
		     bool all);
void block_runs_free(struct block_runs *r);

#endif
