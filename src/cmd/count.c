/*
 * count: `tally count [OPTION...] [--] PROGRAM [ARG...]`, how often everything
 * in a program and its libraries runs.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/counted_run.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"

enum { HOTTEST = 10 }; /* procedures that are shown */

struct count_call {
	const char *profile;
	bool quiet;
	struct counted_call run;
};

static const struct option output_options[] = {
	{"output", 'o', &type_profile, FILLS(struct count_call, profile),
	 .help = "where the counts go; by default `NAME.tally`, of the "
		 "program's name, in the current folder",
	 .more = "A file of that name is replaced."},
	{0},
};

/* programs that were executed are not counted: how they could be */
static void count_suggest(const struct launch *l)
{
	const struct program *p = &l->program;
	struct profile profile;
	char text[512];
	struct err e;
	bool executed = false;

	if (profile_open_packed(&profile, l->profile, &e))
		return;
	for (size_t i = 0; i < profile.process.n; i++)
		executed |= profile.process.at[i].ended == ENDED_BY_EXEC;
	profile_close(&profile);
	if (strcmp(p->execfn, p->path))
		snprintf(text, sizeof text, "%.160s is a script: what was "
			 "counted is %.160s; --follow counts programs that it "
			 "executes, too", p->execfn, p->path);
	else if (executed)
		snprintf(text, sizeof text, "programs that were executed are "
			 "not counted: --follow does so");
	else
		return;
	cmd_note(text);
}

static int count_conclude(void *ctx, const struct launch *l, int status)
{
	const struct count_call *call = ctx;
	struct err e;

	if (!call->quiet && report_show_hottest(l->profile, NULL, HOTTEST,
						stderr, &e))
		cmd_fail(&e);
	if (!call->quiet && !call->run.follow)
		count_suggest(l);
	return status;
}

static int count_run(void *words, const struct arguments *a)
{
	struct count_call *call = words;
	char *own = call->profile ? NULL : cmd_output(a->program[0], ".tally");
	struct counted_run r = {
		.call = &call->run,
		.profile = call->profile ? call->profile : own,
		.quiet = call->quiet,
		.conclude = count_conclude,
		.ctx = call,
	};
	int status = counted_check(&cmd_count, &call->run);

	if (!status)
		status = counted_launch(&r, a->program);
	mem_free(own);
	return status;
}

const struct command cmd_count = {
	.name = "count",
	.summary = "how often everything in a program runs",
	.usage = "[OPTION...] [--] PROGRAM [ARG...]",
	.about = "Runs PROGRAM with its code, and that of its libraries, "
		 "rewritten so that it counts itself, and says what ran most. "
		 "Rewritten files are kept in a cache; `tally report` and "
		 "`tally export` tell more.",
	.closing = "The exit status is the program's, or 128+N after signal "
		   "N; 127 if it is not found, 126 if it cannot be executed, "
		   "125 if tally fails.",
	.operands = (const struct operand[]){{.name = "PROGRAM"}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(output_options),
		OPTIONS_AT(recipe_options, struct count_call, run.how),
		OPTIONS_AT(only_options, struct count_call, run.how),
		OPTIONS_AT(counted_options, struct count_call, run),
		OPTIONS_AT(quiet_option, struct count_call, quiet),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct count_call){.run = {COUNTED_DEFAULTS}},
	.size = sizeof(struct count_call),
	.run = count_run,
	.runs_program = true,
};
