/*
 * variation: how much what ran differs from run to run (dcpistats; Anderson et
 * al. '97, section 3.3): of each procedure, line or image the instructions that
 * it executed in each run, and how far they are from each other.
 *
 * Runs are added one by one and need not be kept. Procedures are the same if
 * their images' files and they are called the same, those without a name if
 * they are at one address of the same file. How an image was counted does not
 * matter, nor that it is another build.
 *
 * What is said of instructions holds for samples, if the runs are databases.
 */
#ifndef REPORT_VARIATION_H
#define REPORT_VARIATION_H

#include "base/intern.h"
#include "report/sampled_runs.h"
#include "source/metric.h"
#include "source/told.h"

/* something in all runs that have it */
struct varied {
	const char *image, *name; /* name "": of an image */
	uint32_t line;		  /* of a line: name is its file */
	uint32_t runs;		  /* in which its count is known */
	uint32_t unknown;	  /* in which it is not */
	uint32_t last;		  /* run in which it was met, from 1 */
	uint32_t again;		  /* others that were called so in that run */
	uint64_t min, max, sum;	  /* of those */
	double mean, squares;	  /* of distances from the mean, added up */
};

/* a run */
struct variation_run {
	uint64_t instructions;
	bool complete; /* false: and more, which are not known */
};

struct variation {
	enum by by; /* BY_IMAGE, _PROCEDURE or _LINE */
	VEC(struct variation_run) run;
	VEC(struct varied) v;
	uint64_t sum; /* of instructions in all runs */
	const char *first; /* the first run's file */
	struct intern key, text;
};

/* adds a run; -1 and *e if it has nothing in common with the others */
int variation_add(struct variation *v, const struct told *t, struct err *e);
/*
 * The same of samples, all runs at once; what has none in a run has 0 there.
 * Texts stay theirs. requires: sampled_runs_sort()
 */
void variation_of_samples(struct variation *v, const struct sampled_runs *r);
/* what varied most first, by normalized range; what never ran is taken out */
void variation_sort(struct variation *v);
void variation_free(struct variation *v);

/* adds what it executed in a run; requires: the sum fits */
void varied_put(struct varied *x, uint64_t n);
/* difference between most and least, as a share of the sum */
double varied_range(const struct varied *x);
/* standard deviation, of a sample: from n - 1 */
double varied_deviation(const struct varied *x);

#endif
