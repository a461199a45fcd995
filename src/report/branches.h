/*
 * branches: how often control went from which instruction of an image where,
 * as a recorder of branches that loses none would tell: taken branches, calls,
 * ways through jump tables, and what falls from one block into the next, where
 * that can be reached otherwise, too, or the first ends with a conditional
 * jump. Returns are left out: where each one led is not known.
 *
 * Only what is known, and happened, is there. Of indirect calls, and of jumps
 * that share their targets, that is known if pairs were measured. Where not all
 * is known is listed.
 */
#ifndef REPORT_BRANCHES_H
#define REPORT_BRANCHES_H

#include "profile/counts.h"

struct branch {
	uint64_t from, to; /* addresses; of an instruction, of a block */
	uint64_t count;
	bool has_from; /* else it came from elsewhere, or that is not known */
	bool has_to;   /* else it left the image */
	bool falls;    /* no jump: what follows in memory */
};

struct branches {
	VEC(struct branch) v; /* by from, to; each pair once */
	/* blocks to or from which control went, how often is not known */
	VEC(uint64_t) unknown;
};

void branches_make(struct branches *b, const struct counts *t,
		   const struct counts_image *m);
void branches_free(struct branches *b);

#endif
