/*
 * diff: what changed between two runs or builds, before and after: counts of
 * two profiles (change.h), samples of two databases or of epochs of one
 * (share_change.h), or both side by side, place by place. Samples of code that
 * was counted are those of its counterpart; of other code, by name (runs.h).
 */
#ifndef REPORT_DIFF_DIFF_H
#define REPORT_DIFF_DIFF_H

#include "report/diff/change.h"
#include "report/diff/share_change.h"

/* sources; [0] is before, [1] after */
struct diff_query {
	const char *profile[2];	 /* both, or none */
	const char *database[2]; /* likewise */
	struct samples_query pick[2];
	enum by by;
	const char *image, *procedure; /* only these, or NULL */
	double share; /* differences of at least so much of all */
	double rate;  /* of false discoveries */
	bool all;     /* also what did not change */
	bool same_work; /* counts and samples of a side are of one work */
	struct metric_sources more[2]; /* further ones, of the same metrics */
};

/* counts, samples or both of a place */
struct diff_row {
	uint32_t change; /* in diff.changes.v, or MATCH_NONE */
	uint32_t place;	 /* in diff.runs.place, or MATCH_NONE: no samples */
};

struct diff {
	const struct diff_query *query;
	bool counted, sampled;
	struct counts counts[2];
	struct match match;
	struct changes changes;
	struct samples samples;
	struct runs runs;
	struct share_changes shares;
	/* time per execution of each side; name NULL: not known */
	struct metric ratio[2];
	/* as changes has them, then as shares has those of other code */
	VEC(struct diff_row) v;
	bool any;   /* difference in what was asked for */
	bool found; /* there is what was asked for */
};

/* requires: a pair of profiles or one of databases, and diff_has(). On -1
   nothing needs freeing */
int diff_make(struct diff *d, const struct diff_query *q, struct err *e);
void diff_free(struct diff *d);

/* can these be compared by that? */
bool diff_has(const struct diff_query *q);

/* what counts tell of a row, or NULL */
static inline const struct change *diff_change(const struct diff *d,
					       const struct diff_row *row)
{
	return row->change == MATCH_NONE ? NULL :
					   &d->changes.v.at[row->change];
}

/* what samples tell of it: the place, and shares; or NULL: it has none */
static inline const struct run_place *diff_place(const struct diff *d,
						 const struct diff_row *row)
{
	return row->place == MATCH_NONE ? NULL : &d->runs.place.at[row->place];
}

static inline const struct significance_row *
diff_share(const struct diff *d, const struct diff_row *row)
{
	return row->place == MATCH_NONE ? NULL : &d->shares.row[row->place];
}

/* metrics of further sources, and what a row has of them on a side; how many */
unsigned diff_more(const struct diff *d, struct metric out[METRICS]);
void diff_more_values(const struct diff *d, const struct diff_row *row,
		      int side, struct value out[METRICS]);
/* time per execution of a row on a side; requires: ratio[side].name */
struct value diff_ratio(const struct diff *d, const struct diff_row *row,
			int side);

#endif
