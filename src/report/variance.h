/*
 * variance: how much what ran differs from run to run (dcpistats; Anderson et
 * al. '97, section 3.3): of each procedure, line or image what it has in each
 * run, instructions or samples, and how far these are from each other.
 */
#ifndef REPORT_VARIANCE_H
#define REPORT_VARIANCE_H

#include "report/runs.h"

/* a place in all runs that have it */
struct varied {
	const struct run_place *place;
	uint32_t runs;          /* in which its value is known */
	uint32_t unknown;       /* in which it is not */
	uint64_t min, max, sum; /* of those that are */
	double mean, squares;   /* of distances from the mean, added up */
};

struct variance {
	const struct runs *runs;
	/* what varied most first, by normalized range; without what never
	   ran */
	VEC(struct varied) v;
};

/* requires: runs_sort(); the runs have to stay */
void variance_make(struct variance *v, const struct runs *r);
void variance_free(struct variance *v);

/* adds what it has in a run; requires: the sum fits */
void varied_put(struct varied *x, uint64_t n);
/* difference between most and least, as a share of the sum */
double varied_range(const struct varied *x);
/* standard deviation, of a sample: from n - 1 */
double varied_deviation(const struct varied *x);

#endif
