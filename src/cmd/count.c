/*
 * count: `tally count [OPTION...] [--] PROGRAM [ARG...]`, how often everything
 * in a program and its libraries runs.
 */
#include "cmd/cmd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/rewriter.h"
#include "cmd/status_line.h"
#include "launch/launch.h"
#include "runtime/libs.h"

static const char count_usage[] =
	"usage: tally count [OPTION...] [--] PROGRAM [ARG...]\n"
	"\n"
	"Runs PROGRAM with its code, and that of its libraries, rewritten so\n"
	"that it counts itself, and says what ran most. Rewritten files are\n"
	"kept in a cache; 'tally report' and 'tally export' tell more.\n"
	"\n"
	"  -o PROFILE         where the counts go; NAME.tally by default\n"
	"  --placement edges|vertices|vertex-edges|redundant|none\n"
	"                     where counters are; edges by default; none:\n"
	"                     code is moved and nothing is counted\n"
	"  --weights heuristic|PROFILE\n"
	"                     what counters are expected to cost: guessed, or\n"
	"                     as counted in an earlier run\n"
	"  --libs all|none|NAME,..\n"
	"                     the libraries to count in; all by default\n"
	"  --only NAME,..     count in these procedures only, by their names\n"
	"                     or addresses (0x...)\n"
	"  --follow           programs that it executes are counted, too\n"
	"  --calls            where indirect calls and jumps lead, too\n"
	"  --after-calls      a counter after every call, for comparison\n"
	"  --trap-unexpected  a test mode: code that nobody should reach "
	"traps\n"
	"  --trace-kill       exact also if SIGKILL ends it: it is traced\n"
	"  --strict           do not run what could not be rewritten\n"
	"  --quiet            do not list what ran most\n"
	"\n"
	"The exit status is the program's, or 128+N after signal N; 127 if it\n"
	"is not found, 126 if it cannot be executed, 125 if tally fails.\n";

enum { HOTTEST = 10 }; /* procedures that are shown */

struct count_call {
	const char *placement, *libs, *profile, *weights;
	bool strict, follow, quiet, trace_kill;
	struct recipe recipe;
	char **program; /* and its arguments */
};

/* prints what is wrong with the call; 125, as all that tally fails in */
#define misuse(...) (cmd_misuse(&cmd_count, __VA_ARGS__), LAUNCH_FAILED)

/* reads one option; 0 or the exit status */
static int count_option(void *to, char **argv, int *i)
{
	struct count_call *call = to;
	const char *a = argv[*i], *value;

	if ((value = option_value(argv, i, "--placement")))
		call->placement = value;
	else if ((value = option_value(argv, i, "--libs")))
		call->libs = value;
	else if ((value = option_value(argv, i, "--weights")))
		call->weights = value;
	else if (!strcmp(a, "-o"))
		call->profile = argv[*i + 1] ? argv[++*i] : "";
	else if (!strcmp(a, "--strict"))
		call->strict = true;
	else if (!strcmp(a, "--follow"))
		call->follow = true;
	else if (!strcmp(a, "--trace-kill"))
		call->trace_kill = true;
	else if (!strcmp(a, "--quiet"))
		call->quiet = true;
	else if ((value = option_value(argv, i, "--only")))
		call->recipe.count.only = value;
	else if (!strcmp(a, "--after-calls"))
		call->recipe.count.after_calls = true;
	else if (!strcmp(a, "--calls"))
		call->recipe.count.pairs = true;
	else if (!strcmp(a, "--trap-unexpected"))
		call->recipe.trap_unexpected = true;
	else
		return misuse("unknown option '%s'", a);
	return 0;
}

/* what the options ask for together; 0 or the exit status */
static int count_check(struct count_call *call)
{
	struct err e;

	if (!recipe_placement(&call->recipe, call->placement))
		return misuse("there is no placement '%s'", call->placement);
	if (strcmp(call->weights, "heuristic") &&
	    recipe_weights(&call->recipe, call->weights, &e)) {
		cmd_fail(&e);
		return LAUNCH_FAILED;
	}
	if (!*call->libs || strchr(call->libs, '/'))
		return misuse("--libs takes 'all', 'none' or names of "
			      "libraries: libc,libz");
	if (call->recipe.counts && strcmp(call->libs, "all"))
		call->recipe.libs = call->libs;
	if (!recipe_fits(&call->recipe))
		return misuse("the names for --libs or --only are too many: "
			      "%d bytes of each at most", RECIPE_LIST_MAX - 1);
	if (call->recipe.count.pairs && !call->recipe.counts)
		return misuse("--calls needs counters: not --placement none");
	if (call->follow && !call->recipe.counts &&
	    !libs_have(call->libs, "libc.so"))
		return misuse("--follow needs libc among --libs: that is what "
			      "executes programs");
	if (!call->program[0])
		return misuse("which PROGRAM?");
	if (call->recipe.count.only && !*call->recipe.count.only)
		return misuse("--only takes names of procedures");
	if (call->profile && !*call->profile)
		return misuse("-o takes the name of a file");
	return 0;
}

/* the program ended: its profile gets its final form, and may be shown */
static void count_conclude(const char *profile, bool show)
{
	struct err e;

	/* what cannot be finished can still be read */
	if (profile_finish(profile, NULL, &e) < 0)
		cmd_fail(&e);
	if (show && report_show_hottest(profile, HOTTEST, stderr, &e))
		cmd_fail(&e);
}

/*
 * What is not counted need not be rewritten, but for the C library: it makes
 * threads and processes.
 */
static char *libs_to_rewrite(const struct count_call *call)
{
	static const char always[] = "libc,libpthread";
	bool none = !strcmp(call->libs, "none");
	size_t room = strlen(call->libs) + sizeof always + 1;
	char *list = mem_alloc(room);

	if (!call->recipe.counts || !strcmp(call->libs, "all"))
		snprintf(list, room, "%s", call->libs);
	else
		snprintf(list, room, "%s%s%s", none ? "" : call->libs,
			 none ? "" : ",", always);
	return list;
}

/* prints what there is to say, from note number i on */
static void count_notes(const struct launch *l, size_t i)
{
	for (; i < l->note.n; i++)
		cmd_note(l->note.at[i]);
}

/* prepares and runs; the exit status */
static int count_launch(const struct count_call *call)
{
	char *own = call->profile ? NULL :
				    option_output(call->program[0], ".tally");
	const char *profile = call->profile ? call->profile : own;
	char *libs = libs_to_rewrite(call);
	struct launch_options o = {
		.profile = call->recipe.counts ? profile : NULL,
		.libs = libs,
		.strict = call->strict,
		.follow = call->follow,
		.watch = call->trace_kill,
		.rewriter = rewriter_of(&call->recipe),
	};
	struct status_line line;
	struct launch l;
	struct err e = {0};
	size_t shown;
	int status;

	status_line_begin(&line);
	o.progress = &line.progress;
	status = launch_prepare(&l, call->program, &o, &e);
	status_line_end(&line);
	count_notes(&l, 0);
	shown = l.note.n;
	if (!status)
		status = launch_run(&l, &e);
	count_notes(&l, shown);
	if (e.code)
		cmd_fail(&e);
	if (l.profile && *l.profile)
		count_conclude(l.profile, !call->quiet);
	launch_free(&l);
	mem_free(libs);
	mem_free(own);
	return status;
}

static int count_run(int argc, char **argv)
{
	struct count_call call = {.libs = "all", .placement = "edges",
				  .weights = "heuristic"};
	int status = option_program(argc, argv, count_usage, count_option,
				    &call, &call.program);

	if (status >= 0)
		return status;
	status = count_check(&call);
	return status ? status : count_launch(&call);
}

const struct command cmd_count = {
	.name = "count",
	.summary = "how often everything in a program runs",
	.usage = count_usage,
	.run = count_run,
	.own_help = true,
};
