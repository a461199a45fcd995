/*
 * count: `tally count [OPTION...] [--] PROGRAM [ARG...]`, how often everything
 * in a program and its libraries runs.
 */
#include "cmd/cmd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/asked.h"
#include "cmd/options/recipe_options.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/status_line.h"
#include "launch/launch.h"
#include "abi/libs.h"

enum { HOTTEST = 10 }; /* procedures that are shown */

struct count_call {
	const char *libs, *profile;
	bool strict, follow, quiet, trace_kill;
	struct recipe_call how;
};

static const struct option_choice some_libs[] = {
	{.name = "all"}, {.name = "none"}, {0}};

static bool read_libs(const struct option *o, const char *word, void *field)
{
	(void)o;
	*(const char **)field = word;
	return *word && !strchr(word, '/');
}

static const struct option_type type_libs = {
	"all|none|NAME,..", "names of libraries: libc,libz", OFFER_NOTHING,
	sizeof(const char *), read_libs};

static const struct option output_options[] = {
	{"output", 'o', &type_profile, FILLS(struct count_call, profile),
	 .help = "where the counts go; by default `NAME.tally`, of the "
		 "program's name, in the current folder",
	 .more = "A file of that name is replaced."},
	{0},
};

static const struct option count_options[] = {
	{"libs", .type = &type_libs, .choices = some_libs,
	 FILLS(struct count_call, libs),
	 .help = "the libraries to count in; all by default",
	 .more = "The others are listed as unknown. <NAME> is a file name, "
		 "with or without what follows a dot: libz, libz.so, "
		 "libz.so.1. A name that no library has is an error: of a "
		 "program that loads nothing by dlopen(3) before it runs, of "
		 "others when it has ended."},
	{"follow", .type = &type_flag, FILLS(struct count_call, follow),
	 .help = "programs that it executes are counted, too",
	 .more = "So are those that these execute; of a script, its "
		 "interpreter. They are rewritten and run from the cache. "
		 "Their process, arguments, environment, descriptors and "
		 "signals are as without tally, and what cannot be executed "
		 "fails with the same error. See `WHAT IS NOT FOLLOWED`."},
	{"trace-kill", .type = &type_flag,
	 FILLS(struct count_call, trace_kill),
	 .help = "be exact also if SIGKILL ends the program: it is traced",
	 .more = "The same goes for a program that ends because no memory is "
		 "left, or while other threads of it run. Nothing in a process "
		 "runs any more then; so tally traces it, its threads and all "
		 "that it starts, by ptrace(2), and notes where each of them "
		 "is when it goes. See `WHAT A TRACED PROGRAM NOTICES`."},
	{"strict", .type = &type_flag, FILLS(struct count_call, strict),
	 .help = "do not run what could not be rewritten",
	 .more = "A library that the program loads later and that cannot be "
		 "rewritten ends it with status 125; so does, with --follow, "
		 "a program that it executes."},
	{"pid", 'p', &type_text,
	 .refusal = "a process that runs already cannot be counted: count has "
		    "to start its program. 'tally daemon' samples all that "
		    "runs, 'tally record' a program that it starts"},
	{0},
};

/* what the options ask for together; 0 or the exit status */
static int count_check(struct count_call *call)
{
	struct recipe *r = &call->how.recipe;

	if (recipe_settle(&cmd_count, &call->how))
		return LAUNCH_FAILED;
	if (r->counts && strcmp(call->libs, "all"))
		r->libs = call->libs;
	if (!recipe_fits(r))
		return cmd_misuse(&cmd_count, "the names for --libs or --only "
				  "are too many: %d bytes of each at most",
				  RECIPE_LIST_MAX - 1);
	if (call->follow && !r->counts && !libs_have(call->libs, "libc.so"))
		return cmd_misuse(&cmd_count, "--follow needs libc among "
				  "--libs: that is what executes programs");
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

	if (!call->how.recipe.counts || !strcmp(call->libs, "all"))
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
static int count_launch(const struct count_call *call, char **program)
{
	char *own = call->profile ? NULL : cmd_output(program[0], ".tally");
	const char *profile = call->profile ? call->profile : own;
	char *libs = libs_to_rewrite(call);
	struct launch_options o = {
		.profile = call->how.recipe.counts ? profile : NULL,
		.libs = libs,
		.strict = call->strict,
		.follow = call->follow,
		.watch = call->trace_kill,
		.told_later = call->how.recipe.counts && !call->quiet,
		.check = asked_before,
		.rewriter = recipe_rewriter(&call->how.recipe),
	};
	struct status_line line;
	struct asked asked;
	struct launch l;
	struct err e = {0};
	size_t shown;
	int status;

	asked_open(&asked, call->how.recipe.counts ? call->libs : NULL,
		   call->how.recipe.count.only);
	o.check_ctx = &asked;
	status_line_begin(&line);
	o.progress = &line.progress;
	status = launch_prepare(&l, program, &o, &e);
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

static int count_run(void *words, const struct arguments *a)
{
	struct count_call *call = words;
	int status;

	mem_on_exhausted(count_exhausted);
	status = count_check(call);
	return status ? status : count_launch(call, a->program);
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
		OPTIONS_AT(recipe_options, struct count_call, how),
		OPTIONS(count_options),
		OPTIONS_AT(quiet_option, struct count_call, quiet),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct count_call){.libs = "all",
					       .how = {RECIPE_DEFAULTS}},
	.size = sizeof(struct count_call),
	.run = count_run,
	.runs_program = true,
};
