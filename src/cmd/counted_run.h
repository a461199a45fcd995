/*
 * counted_run: a program that commands run with its code, and that of its
 * libraries, rewritten (count, events): their options in common, and the run
 * itself.
 */
#ifndef CMD_COUNTED_RUN_H
#define CMD_COUNTED_RUN_H

#include "cmd/asked.h"
#include "cmd/cmd.h"
#include "cmd/options/recipe_options.h"
#include "launch/launch.h"

struct counted_call {
	const char *libs;
	bool strict, follow, trace_kill;
	struct recipe_call how;
};

#define COUNTED_DEFAULTS .libs = "all", .how = {RECIPE_DEFAULTS}

/* fills a struct counted_call, but for `how` */
extern const struct option counted_options[];

/* what the options ask for together; 0 or the exit status */
int counted_check(const struct command *c, struct counted_call *call);

struct counted_run {
	const struct counted_call *call;
	const char *profile;
	const char *asked; /* what events it is for, or NULL */
	bool quiet; /* what is not counted is not told later */
	bool no_aslr, threads, small, brief; /* as in launch_options */
	struct stopper *stopper;
	/* as in launch_options */
	void (*begin)(void *ctx, const char *profile);
	void (*end)(void *ctx);
	/*
	 * The program has ended, `status` so far: the exit status. Its profile
	 * has its final form then or (live) not yet.
	 */
	bool live;
	bool dropped; /* it is of no use then: it gets no final form */
	int (*conclude)(void *ctx, const struct launch *l, int status);
	void *ctx;
};

/* prepares and runs; the exit status */
int counted_launch(const struct counted_run *r, char **program);

#endif
