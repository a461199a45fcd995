/*
 * match: which images and procedures of one profile are which in another, of
 * the same program or another build of it.
 *
 * Images are the same if their bytes are, else if their files are called the
 * same, libraries but for their versions; the two programs are each other's
 * counterparts in any case. In the same
 * image procedures are the same at the same address; in another build if they
 * are called the same (of several, as many in both, in their order), and those
 * without a name if they have the same content (of several, the same), or are
 * called in the same places (match_callers.h).
 */
#ifndef REPORT_DIFF_MATCH_H
#define REPORT_DIFF_MATCH_H

#include "report/diff/match_blocks.h"

struct match_image {
	uint32_t a, b;	/* in counts.image; MATCH_NONE: only in the other */
	bool same;	/* both are one file */
	bool unmeasured; /* in one of the runs: nothing can be compared */
	uint32_t *to;	/* by procedure of a: in b, or MATCH_NONE */
	uint32_t *from; /* and back */
	struct content x, y; /* if they are not the same */
};

struct match {
	const struct counts *a, *b;
	uint32_t program_a, program_b; /* profile_program() */
	VEC(struct match_image) v;
	struct arena arena;
};

/* requires: both stay open */
void match_make(struct match *m, const struct counts *a,
		const struct counts *b);
void match_free(struct match *m);

#endif
