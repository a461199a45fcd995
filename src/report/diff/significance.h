/*
 * significance: which differences between two sides, of one or more runs each,
 * are more than noise.
 *
 * Each side's samples fall on many things (procedures, say). What is compared
 * is the share of each. If samples were independent, the number of those on one
 * thing would vary from run to run as Poisson's distribution does: by its mean.
 * It varies more, since runs differ and samples come in clusters:
 *
 *	variance = mean * spread,	spread = 1 + relative * mean
 *
 * where `relative` is the same for all things (its root is by how much shares
 * vary from run to run). Runs of one side tell it; and how far each thing's own
 * spread, which they also tell, can be trusted beside that of all (Smyth '04).
 * If there is but one run on each side, it is not known: then most things are
 * taken to be as they were, and the median of their differences tells
 * (Devlin and Roeder '99). That holds if all vary alike. Where a third of them
 * varies four times as much as the others, 25 in 100 comparisons of one run
 * each have a mark that is none (tests/unit/report/noise.c): that is said.
 * Of too few things nothing can be told so, and only the noise of sampling is
 * taken into account.
 *
 * The marks are such that of all that have one, at most the share `rate` is
 * wrong (Benjamini and Hochberg '95); if nothing has changed, the chance of a
 * mark at all is at most that, given three runs on each side or more.
 */
#ifndef REPORT_DIFF_SIGNIFICANCE_H
#define REPORT_DIFF_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NOISE_LEAST = 10, /* samples of both sides, of what is judged */
};

/* how the noise between runs is known */
enum noise_source {
	NOISE_OF_RUNS,
	NOISE_OF_MOST, /* most things are as they were */
	NOISE_UNKNOWN, /* it is not */
};

struct significance_row {
	/* given: samples, and the sum over all runs of (n - m)^2 / m, where n
	   is what the run has and m what it would have at its side's share */
	uint64_t count[2];
	double squares;
	/* found: shares of 1; low and high: 95 of 100 such intervals have the
	   true difference in them */
	double share[2];
	double difference, low, high;
	double spread;
	double p;    /* that noise alone makes that, or more */
	bool judged; /* false: too few samples */
	bool significant;
};

struct noise {
	/* given */
	uint64_t total[2]; /* samples */
	uint32_t runs[2];
	double rate; /* of false discoveries */
	/* found */
	enum noise_source source;
	double relative;
	double freedom; /* degrees of it that spreads are known with */
	double trust;   /* of these, those that come from all things */
	uint32_t judged, significant;
};

/* requires: both totals are more than 0 */
void significance_judge(struct noise *n, struct significance_row *row,
			size_t nrow);

/*
 * p_value: how likely it is that chance alone makes what was seen. Student's
 * and the binomial distribution, both from the incomplete beta function.
 */
/*
 * The share of beta distribution (a, b) that is below x, a and b > 0; it need
 * not be of whole numbers.
 */
double p_value_beta(double a, double b, double x);
/* that Student's t with so many degrees of freedom is as far from 0 as t */
double p_value_student(double t, double freedom);
/* how far from 0 that is with chance p; requires: 0 < p < 1 */
double p_value_student_limit(double p, double freedom);
/*
 * That of n things, each of which is of the first kind with chance p, as few as
 * k are or fewer, or as many or more, whichever is rarer; twice that, at most
 * 1: both kinds of surprise count. 0 <= k <= n need not be whole.
 */
double p_value_binomial(double k, double n, double p);
/* the second derivative of log gamma; x > 0 */
double p_value_trigamma(double x);

#endif
