/*
 * count: `tally count [OPTION...] [--] PROGRAM [ARG...]`, a program run with
 * its code rewritten. What is there today is placement none: everything is
 * relocated, nothing is counted.
 */
#include "cmd/cmd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/name.h"
#include "cmd/option.h"
#include "cmd/rewriter.h"
#include "cmd/status_line.h"
#include "launch/launch.h"
#include "runtime/libs.h"

static const char count_usage[] =
	"usage: tally count --placement none [OPTION...] [--] "
	"PROGRAM [ARG...]\n"
	"\n"
	"Runs PROGRAM with its code, and that of its libraries, rewritten.\n"
	"Rewritten files are kept in a cache.\n"
	"\n"
	"  --placement none   relocate all code, insert nothing (counting is\n"
	"                     not there yet)\n"
	"  --libs all|none|NAME,..\n"
	"                     the libraries to rewrite; all by default\n"
	"  --follow           programs that it executes run rewritten, too\n"
	"  --trap-unexpected  a test mode: code that nobody should reach "
	"traps\n"
	"  --strict           do not run what could not be rewritten\n"
	"\n"
	"The exit status is the program's, or 128+N after signal N; 127 if it\n"
	"is not found, 126 if it cannot be executed, 125 if tally fails.\n";

struct count_call {
	const char *placement, *libs;
	bool strict, follow;
	struct recipe recipe;
	char **program; /* and its arguments */
};

/* prints what is wrong with the call; 125, as all that tally fails in */
#define misuse(...) (cmd_misuse(&cmd_count, __VA_ARGS__), LAUNCH_FAILED)

/* reads one option; 0 or the exit status */
static int count_option(struct count_call *call, char **argv, int *i)
{
	const char *a = argv[*i], *value;

	if ((value = option_value(argv, i, "--placement")))
		call->placement = value;
	else if ((value = option_value(argv, i, "--libs")))
		call->libs = value;
	else if (!strcmp(a, "--strict"))
		call->strict = true;
	else if (!strcmp(a, "--follow"))
		call->follow = true;
	else if (!strcmp(a, "--trap-unexpected"))
		call->recipe.trap_unexpected = true;
	else
		return misuse("unknown option '%s'", a);
	return 0;
}

/* what the options ask for together; 0 or the exit status */
static int count_check(struct count_call *call)
{
	if (!recipe_placement(&call->recipe, call->placement))
		return misuse("there is no placement '%s'", call->placement);
	if (!*call->libs || strchr(call->libs, '/'))
		return misuse("--libs takes 'all', 'none' or names of "
			      "libraries: libc,libz");
	if (call->follow && !libs_have(call->libs, "libc.so"))
		return misuse("--follow needs libc among --libs: that is what "
			      "executes programs");
	if (!call->program[0])
		return misuse("which PROGRAM?");
	return 0;
}

static void print_note(const char *text)
{
	fputs("tally: ", stderr);
	name_print(stderr, text, "");
	putc('\n', stderr);
}

/* prepares and runs; the exit status */
static int count_launch(const struct count_call *call)
{
	struct launch_options o = {
		.libs = call->libs,
		.strict = call->strict,
		.follow = call->follow,
		.rewriter = rewriter_of(&call->recipe),
	};
	struct status_line line;
	struct launch l;
	struct err e = {0};
	int status;

	status_line_begin(&line);
	o.progress = &line.progress;
	status = launch_prepare(&l, call->program, &o, &e);
	status_line_end(&line);
	for (size_t i = 0; i < l.note.n; i++)
		print_note(l.note.at[i]);
	if (!status)
		status = launch_run(&l, &e);
	if (e.code)
		cmd_fail(&e);
	launch_free(&l);
	return status;
}

static int count_run(int argc, char **argv)
{
	struct count_call call = {.libs = "all", .placement = "edges"};
	int i = 1, status;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(count_usage, stdout);
			return STATUS_OK;
		}
		status = count_option(&call, argv, &i);
		if (status)
			return status;
	}
	call.program = argv + (i < argc ? i : argc);
	status = count_check(&call);
	return status ? status : count_launch(&call);
}

const struct command cmd_count = {
	.name = "count",
	.summary = "runs a program rewritten (counting is not there yet)",
	.usage = count_usage,
	.run = count_run,
	.own_help = true,
};
