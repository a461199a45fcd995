/*
 * trace: `tally trace [OPTION...] [--] PROGRAM [ARG...]`, all that a program
 * does, recorded with few bytes: `tally replay` tells it.
 */
#include "cmd/cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/counted_run.h"
#include "cmd/options/shared_options.h"
#include "launch/drain.h"

/* bytes that are kept, of which few are for an epoch */
enum { BRIEF = 8 << 20 };

struct trace_call {
	const char *trace, *encoding, *weights, *from;
	uint64_t last, limit, insns;
	char asked[64]; /* numbers of instructions, for the program's runtime */
	bool addresses, syscalls;
	struct counted_call run;
	struct drain drain;
};

/* names are those of trace_encoding_names[] */
static const struct option_choice encodings[] = {
	{"witness", 0, "witnesses where they are fewer than branches, else "
		       "bits; the default", NULL},
	{"bits", 0, "a bit of each branch with two ways", NULL},
	{"every-branch", 0, "a byte of each branch, for comparison", NULL},
	{0},
};

static const struct option_choice weights[] = {{.name = "heuristic"}, {0}};

static const struct option trace_options[] = {
	{"output", 'o', &type_file, FILLS(struct trace_call, trace),
	 .help = "where the trace goes; by default `NAME.trace`, of the "
		 "program's name, in the current folder",
	 .more = "A file of that name is replaced."},
	{"encoding", .type = &type_word, .placeholder = "HOW",
	 .choices = encodings, FILLS(struct trace_call, encoding),
	 .help = "what is written of branches"},
	{"addresses", .type = &type_flag, FILLS(struct trace_call, addresses),
	 .help = "and where the program reads and writes memory",
	 .more = "Of that is recorded what cannot be computed from what is "
		 "known: `tally replay --as addresses` tells every access."},
	{"syscalls", .type = &type_flag, FILLS(struct trace_call, syscalls),
	 .help = "and every system call: its number, when, and on which CPU",
	 .more = "`tally replay` tells them in lines that begin with #. Each "
		 "costs a microsecond more. Those in code that is not traced "
		 "(the dynamic loader, the vdso) are not seen."},
	{"weights", .type = &type_profile, .choices = weights,
	 FILLS(struct trace_call, weights),
	 .help = "what is expected to run often, by a profile of the program "
		 "or a guess, the default"},
	{"from", .type = &type_procedures, FILLS(struct trace_call, from),
	 .help = "begin when a thread comes to one of these procedures, or has "
		 "executed <N> instructions",
	 .more = "A number is each thread's own; it begins with the next call "
		 "of a procedure. A name is one of `tally count --only`. What "
		 "ran before is told as not traced. Other threads follow when "
		 "code that is not traced calls them next. A program that is "
		 "linked with the library of tally.h stops and starts traces "
		 "of threads by tally_stop(3) and tally_start(3); --from "
		 "tally_start begins with that."},
	{"for", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = INT64_MAX, FILLS(struct trace_call, insns),
	 .help = "trace so many instructions of each thread",
	 .more = "And some more, up to where a thread hands over what it has "
		 "written of some fifty branches. The program goes on. It "
		 "counts its instructions then, as with --from <N>, which "
		 "costs time of its own."},
	{"last", .type = &type_number, .placeholder = "BYTES",
	 .least = 256 << 10, .most = INT64_MAX,
	 FILLS(struct trace_call, last),
	 .help = "keep only the end of the trace, in about so many bytes",
	 .more = "`tally replay --as calls` begins it with the calls that were "
		 "open then, as far as the stack's last 8 KiB tell."},
	{"limit", .type = &type_number, .placeholder = "BYTES", .least = 4096,
	 .most = INT64_MAX, FILLS(struct trace_call, limit),
	 .help = "end the trace, not the program, when its file has that size"},
	{0},
};

static void trace_begin(void *ctx, const char *profile)
{
	struct trace_call *call = ctx;

	call->drain.profile = profile;
	drain_begin(&call->drain);
}

static void trace_end(void *ctx)
{
	struct trace_call *call = ctx;

	drain_end(&call->drain);
}

/* what the trace says of itself */
static void add_notes(const struct trace_call *call,
		      struct trace_writer *w, char **program)
{
	struct timespec now;
	struct err e;
	size_t room = 1;
	char *line, started[24];

	for (char **arg = program; *arg; arg++)
		room += strlen(*arg) + 1;
	line = mem_alloc(room);
	*line = 0;
	for (char **arg = program; *arg; arg++) {
		strcat(line, arg == program ? "" : " ");
		strcat(line, *arg);
	}
	trace_writer_note(w, "command", line, &e);
	trace_writer_note(w, "encoding", call->encoding, &e);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(started, sizeof started, "%llu",
		 (unsigned long long)now.tv_sec * 1000000000 +
			 (unsigned long long)now.tv_nsec);
	trace_writer_note(w, "started", started, &e);
	if (call->addresses)
		trace_writer_note(w, "addresses", "", &e);
	if (call->syscalls)
		trace_writer_note(w, "syscalls", "", &e);
	trace_writer_note(w, "tally", TALLY_VERSION, &e);
	mem_free(line);
}

static int conclude(void *ctx, const struct launch *l, int status)
{
	(void)ctx;
	(void)l;
	return status;
}

static int run_program(struct trace_call *call, char **program)
{
	char *profile = cmd_temporary("trace");
	struct counted_run r = {
		.call = &call->run,
		.profile = profile,
		.threads = true,
		.small = getenv("TALLY_SMALL_EPOCHS"),
		/* so that some begin in what is kept */
		.brief = call->last && call->last < BRIEF,
		.live = true,
		.dropped = true,
		.begin = trace_begin,
		.end = trace_end,
		.conclude = conclude,
		.asked = *call->asked ? call->asked : NULL,
		.ctx = call,
	};
	struct trace_writer *w = call->drain.writer;
	struct err e;
	int status = LAUNCH_FAILED;

	if (!profile)
		return status;
	add_notes(call, w, program);
	status = counted_launch(&r, program);
	unlink(profile);
	mem_free(profile);
	if (call->from && !call->drain.took)
		cmd_note("the trace is empty: no thread came to where --from "
			 "begins");
	if (call->drain.e.code)
		cmd_fail(&call->drain.e);
	if (trace_writer_close(w, &e)) {
		cmd_fail(&e);
		status = status ? status : LAUNCH_FAILED;
	}
	return status;
}

/* where it begins and ends: by instructions, they are counted */
static void settle_region(struct trace_call *call)
{
	struct recipe *r = &call->run.how.recipe;
	uint64_t from = 0;
	bool number = call->from && option_number(call->from, &from);

	/* any procedure will do, once there were so many */
	r->from = number ? from ? "*" : NULL : call->from;
	r->insns = from || call->insns;
	if (r->insns)
		snprintf(call->asked, sizeof call->asked,
			 TRACE_ASKED_FROM "%llu," TRACE_ASKED_FOR "%llu",
			 (unsigned long long)from,
			 (unsigned long long)call->insns);
}

/* the recipe of what is rewritten; 0 or the exit status */
static int settle(struct trace_call *call)
{
	struct recipe *r = &call->run.how.recipe;
	char name[32];
	int status;

	call->run.how.weights = call->weights;
	settle_region(call);
	status = counted_check(&cmd_trace, &call->run);
	snprintf(name, sizeof name, "trace-%s", call->encoding);
	if (!status)
		recipe_placement(r, name);
	r->addresses = call->addresses;
	r->syscalls = call->syscalls;
	return status;
}

static int trace_run(void *words, const struct arguments *a)
{
	struct trace_call *call = words;
	char *own = call->trace ? NULL : cmd_output(a->program[0], ".trace");
	const struct trace_writer_options o = {.limit = call->limit,
					       .last = call->last};
	int status = settle(call);
	struct err e;

	if (!status) {
		call->drain.writer = trace_writer_open(
			call->trace ? call->trace : own, &o, &e);
		if (!call->drain.writer) {
			cmd_fail(&e);
			status = LAUNCH_FAILED;
		}
	}
	if (!status)
		status = run_program(call, a->program);
	mem_free(own);
	return status;
}

const struct command cmd_trace = {
	.name = "trace",
	.summary = "all that a program does, recorded with few bytes",
	.usage = "[OPTION...] [--] PROGRAM [ARG...]\n"
		 "pack [-o FILE] [--json] TRACE",
	.about = "Runs PROGRAM with its code, and that of its libraries, "
		 "rewritten so that it writes where it goes. `tally replay` "
		 "tells every instruction that ran, in order.\n"
		 "`tally trace pack` makes a trace smaller that was recorded: "
		 "it replaces the file, or writes another with -o, and prints "
		 "how many bytes there were and are.",
	.closing = "The exit status is the program's, or 128+N after signal "
		   "N; 127 if it is not found, 126 if it cannot be executed, "
		   "125 if tally fails.",
	.operands = (const struct operand[]){{.name = "PROGRAM"}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(trace_options),
		OPTIONS_AT(counted_options, struct trace_call, run),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct trace_call){.run = {COUNTED_DEFAULTS},
					       .encoding = "witness",
					       .weights = "heuristic"},
	.size = sizeof(struct trace_call),
	.run = trace_run,
	.runs_program = true,
	.inner = &cmd_trace_pack,
	.inner_word = "pack",
};
