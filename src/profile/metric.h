/*
 * metric: a kind of number that places of a program have, and its values. A
 * source of numbers (counts.h, samples.h) says which metrics it has for places
 * of a kind; listings have a column for each, whatever it is.
 */
#ifndef PROFILE_METRIC_H
#define PROFILE_METRIC_H

#include <stdbool.h>
#include <stdint.h>

/* what kind of places numbers are of */
enum by {
	BY_IMAGE,
	BY_PROCEDURE,
	BY_PROCESS,
	BY_EDGE,
	BY_BLOCK,
	BY_INSTRUCTION,
	BY_CALL_SITE,
	BY_LINE,
	BY_EVENT,
	BY_EPOCH,
	BY_KINDS,
};

/* how a number was come by */
enum evidence {
	EVIDENCE_EXACT,   /* counted */
	EVIDENCE_SAMPLED, /* its relative error is 1 / sqrt(n) */
	EVIDENCE_RATIO,   /* of two others */
};

/* how much of all a value is */
enum share {
	SHARE_NONE,   /* it makes no sense */
	SHARE_HIDDEN, /* it is known, and not shown */
	SHARE_OF_ALL,
	SHARE_AND_SUM, /* and what this and all rows before it are */
};

struct metric {
	const char *name; /* the column's head */
	enum evidence evidence;
	enum share share;
	uint64_t total; /* of all places, if shares are shown */
	/*
	 * Of a ratio: the metrics, by number, that it is the quotient of, and
	 * what it is multiplied by: units per sample, runs per run.
	 */
	unsigned numerator, denominator;
	double scale;
	bool decides; /* of places with equal values before it, the order */
};

/* of a ratio: n is 0 */
struct value {
	uint64_t n;
	/* what n is a part of, if that is not n itself: of a block's
	   executions, the instructions that these were */
	uint64_t of_all;
	bool known;
	bool least;          /* perhaps there is more that is not known */
	double ratio, error; /* and its relative standard error */
};

enum { METRICS = 24 }; /* of a listing, at most */

/*
 * Fills in the ratios among the values of a place, one for each of n metrics.
 * Samples are independent of each other: n of them are right to sqrt(n).
 */
void metric_divide(const struct metric *m, unsigned n, struct value *v);

#endif
