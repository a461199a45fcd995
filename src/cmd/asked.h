/*
 * asked: what `tally count` was asked for by name, libraries (--libs) and
 * procedures (--only), is there. A misspelt name would count nothing, and
 * nothing would say so. Names of libraries that a program loads as it runs are
 * known at its end only.
 */
#ifndef CMD_ASKED_H
#define CMD_ASKED_H

#include "count/place/only.h"
#include "launch/launch.h"

struct asked {
	const char *libs; /* the list; NULL: none are named */
	struct only only;
	const char *option; /* that has these names */
	bool later; /* something may be known at the end */
};

void asked_open(struct asked *a, const char *libs, const char *only,
		const char *option);
void asked_close(struct asked *a);
/* before the program runs, for launch_options.check; ctx is the asked */
int asked_before(const struct launch *l, void *ctx, struct err *e);
/* when it has: 0, or the exit status and *e */
int asked_after(struct asked *a, const struct launch *l, struct err *e);

#endif
