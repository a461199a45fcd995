/* diff_show: the ways to show what changed. Part of `tally diff`. */
#ifndef CMD_DIFF_SHOW_H
#define CMD_DIFF_SHOW_H

#include <stdio.h>

#include "report/change.h"
#include "report/runs.h"

void diff_show_text(const struct changes *c, enum change_by by, size_t limit,
		    FILE *to);
void diff_show_json(const struct changes *c, enum change_by by, size_t limit,
		    FILE *to);

/* what is asked for of databases */
struct diff_shares {
	const char *source[2];
	struct samples_query pick[2];
	enum by by;
	struct rows_wish wish;
	double share; /* of all samples, that a difference is at least */
	double rate;  /* of false discoveries */
	bool all, json;
	size_t limit;
};
/* finds and shows it; the exit status */
int diff_shares_show(const struct diff_shares *x);

#endif
