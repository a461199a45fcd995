/*
 * share_change: what is different between two sides of runs, place by place,
 * and which differences are more than noise (significance.h).
 */
#ifndef REPORT_DIFF_SHARE_CHANGE_H
#define REPORT_DIFF_SHARE_CHANGE_H

#include "report/diff/significance.h"
#include "report/runs.h"

struct share_changes {
	const struct runs *runs;
	struct noise noise;
	struct significance_row *row; /* by place */
	VEC(uint32_t) order;   /* places: marked ones first, then by size */
};

/*
 * The first `before` runs are one side, the others the other; both have
 * samples. rate: of false discoveries. requires: runs_sort()
 */
void share_changes_make(struct share_changes *c,
			  const struct runs *r, uint32_t before,
			  double rate);
/* only what is marked, unless all; and only differences of at least that
   share of all */
void share_changes_pick(struct share_changes *c, bool all, double share);
/* whether something that was picked is marked */
bool share_changes_any(const struct share_changes *c);
void share_changes_free(struct share_changes *c);

#endif
