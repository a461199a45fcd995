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
	const char *unit; /* of a further source; NULL: it is a number of
			     what the name says */
	bool errors;	  /* values have errors of their own, to be shown */
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

/* a place, for sources that know it by its name or its addresses */
struct metric_place {
	enum by kind;
	const char *image;     /* its file's name, without folders */
	const char *procedure; /* or NULL: it is in none */
	uint64_t start, end;   /* of the code; end 0: not known */
	const char *file;      /* of a line, or NULL */
	uint32_t line;
};

/* a further source of numbers: one metric of places of some kinds */
struct metric_source {
	struct metric is;
	bool (*has)(const struct metric_source *s, enum by kind);
	struct value (*value)(const struct metric_source *s,
			      const struct metric_place *p);
};

struct metric_sources {
	const struct metric_source *const *at;
	unsigned n;
};

/* the metrics that places of the kind have, at most `room`; how many */
unsigned metric_sources_list(const struct metric_sources *s, enum by kind,
			     struct metric *out, unsigned room);
/* their values at a place, at most `room` */
void metric_sources_values(const struct metric_sources *s,
			   const struct metric_place *p, struct value *out,
			   unsigned room);

/*
 * Fills in the ratios among the values of a place, one for each of n metrics.
 * Samples are independent of each other: n of them are right to sqrt(n).
 */
void metric_divide(const struct metric *m, unsigned n, struct value *v);

#endif
