/*
 * count: `tally count [OPTION...] [--] PROGRAM [ARG...]`, how often everything
 * in a program and its libraries runs.
 */
#include "cmd/cmd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/asked.h"
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
	"  --placement edges|vertices|vertex-edges|redundant|none|poison\n"
	"                     where counters are; edges by default; none:\n"
	"                     code is moved and nothing is counted\n"
	"  --weights heuristic|PROFILE\n"
	"                     what counters are expected to cost: guessed, or\n"
	"                     as counted in an earlier run\n"
	"  --libs all|none|NAME,..\n"
	"                     the libraries to count in; all by default\n"
	"  --only NAME,..|@FILE\n"
	"                     count in these procedures only, by their names,\n"
	"                     patterns of names or addresses (0x...); or as a\n"
	"                     file has them, one per line\n"
	"  --follow           programs that it executes are counted, too\n"
	"  --calls            where indirect calls and jumps lead, too\n"
	"  --after-calls      a counter after every call, for comparison\n"
	"  --trap-unexpected  a test mode: old code that should never be\n"
	"                     reached traps\n"
	"  --trace-kill       exact also if SIGKILL ends it: it is traced\n"
	"  --strict           do not run what could not be rewritten\n"
	"  --quiet            do not list what ran most\n"
	"\n"
	"The exit status is the program's, or 128+N after signal N; 127 if it\n"
	"is not found, 126 if it cannot be executed, 125 if tally fails.\n";

enum { HOTTEST = 10 }; /* procedures that are shown */

struct count_call {
	const char *placement, *libs, *profile, *weights, *only;
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
		call->only = value;
	else if (!strcmp(a, "--after-calls"))
		call->recipe.count.after_calls = true;
	else if (!strcmp(a, "--calls"))
		call->recipe.count.pairs = true;
	else if (!strcmp(a, "--trap-unexpected"))
		call->recipe.trap_unexpected = true;
	else if (!strncmp(a, "-p", 2) || !strncmp(a, "--pid", 5))
		return misuse("a process that runs already cannot be counted: "
			      "count has to start its program. 'tally daemon' "
			      "samples all that runs, 'tally record' a program "
			      "that it starts");
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
	if (call->only && (!*call->only || !strcmp(call->only, "@")))
		return misuse("--only takes names of procedures, or @FILE");
	if (call->only && recipe_only(&call->recipe, call->only, &e)) {
		cmd_fail(&e);
		return LAUNCH_FAILED;
	}
	if (call->only && !*call->recipe.count.only)
		return misuse("--only: there is no name in %s",
			      call->only + 1);
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
	if (call->profile && !*call->profile)
		return misuse("-o takes the name of a file");
	return 0;
}

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

/*
 * How tally ends if there is no memory left: as in all that it fails in, or,
 * once the program has ended, as that did.
 */
static struct {
	int status;
	const char *profile;
} ending = {.status = LAUNCH_FAILED};

static void count_exhausted(size_t wanted)
{
	fprintf(stderr, "tally: out of memory (%zu bytes wanted)", wanted);
	if (ending.profile)
		fprintf(stderr, ": what was counted is in %s, not shown",
			ending.profile);
	fputc('\n', stderr);
	exit(ending.status);
}

/*
 * The program ended: its profile gets its final form, and may be shown. The
 * exit status, which was `status` so far.
 */
static int count_conclude(const struct count_call *call,
			  const struct launch *l, struct asked *asked,
			  int status)
{
	struct err e;
	int wrong;

	ending.status = status;
	ending.profile = l->profile;
	/* what cannot be finished can still be read */
	if (profile_finish(l->profile, NULL, &e) < 0)
		cmd_fail(&e);
	if (!call->quiet && report_show_hottest(l->profile, NULL, HOTTEST,
						stderr, &e))
		cmd_fail(&e);
	if (!call->quiet && !call->follow)
		count_suggest(l);
	wrong = asked_after(asked, l, &e);
	if (wrong)
		cmd_fail(&e);
	return status ? status : wrong;
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
		.told_later = call->recipe.counts && !call->quiet,
		.check = asked_before,
		.rewriter = rewriter_of(&call->recipe),
	};
	struct status_line line;
	struct asked asked;
	struct launch l;
	struct err e = {0};
	size_t shown;
	int status;

	asked_open(&asked, call->recipe.counts ? call->libs : NULL,
		   call->recipe.count.only);
	o.check_ctx = &asked;
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
		status = count_conclude(call, &l, &asked, status);
	asked_close(&asked);
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
	mem_on_exhausted(count_exhausted);
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
