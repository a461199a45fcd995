/*
 * sampled_change: what is different between two sides of runs, thing by thing,
 * and which differences are more than noise (noise.h).
 */
#ifndef REPORT_SAMPLED_CHANGE_H
#define REPORT_SAMPLED_CHANGE_H

#include "report/noise.h"
#include "report/sampled_runs.h"

struct sampled_changes {
	const struct sampled_runs *runs;
	struct noise noise;
	struct noise_row *row; /* by thing */
	VEC(uint32_t) order;   /* things: marked ones first, then by size */
};

/*
 * The first `before` runs are one side, the others the other; both have
 * samples. rate: of false discoveries. requires: sampled_runs_sort()
 */
void sampled_changes_make(struct sampled_changes *c,
			  const struct sampled_runs *r, uint32_t before,
			  double rate);
/* only what is marked, unless all; and only differences of at least that
   share of all */
void sampled_changes_pick(struct sampled_changes *c, bool all, double share);
/* whether something that was picked is marked */
bool sampled_changes_any(const struct sampled_changes *c);
void sampled_changes_free(struct sampled_changes *c);

#endif
