/*
 * record: `tally record [OPTION...] [--] PROGRAM [ARG...]`, where the time of a
 * program goes, by samples.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/option.h"
#include "cmd/report_show.h"
#include "launch/find.h"
#include "launch/launch.h"
#include "sample/event.h"
#include "sample/record.h"

static const char record_usage[] =
	"usage: tally record [OPTION...] [--] PROGRAM [ARG...]\n"
	"\n"
	"Runs PROGRAM as it is, looks many times a second where it is, and\n"
	"all that it starts, and says where most of its time went. Needs no\n"
	"privilege. 'tally report DB' tells more.\n"
	"\n"
	"  -o DB      the database, a directory: NAME.samples by default;\n"
	"             what is there already is kept\n"
	"  --rate HZ  samples per second of each CPU; 5200 by default\n"
	"  --quiet    do not list what took most\n"
	"\n"
	"The exit status is the program's, or 128+N after signal N; 127 if it\n"
	"is not found, 126 if it cannot be executed, 125 if tally fails.\n";

enum { HOTTEST = 10 }; /* procedures that are shown */

struct record_call {
	const char *directory;
	size_t rate;
	bool quiet;
	char **program; /* and its arguments */
};

/* prints what is wrong with the call; 125, as all that tally fails in */
#define misuse(...) (cmd_misuse(&cmd_record, __VA_ARGS__), LAUNCH_FAILED)

/* reads one option; 0 or the exit status */
static int record_option(void *to, char **argv, int *i)
{
	struct record_call *call = to;
	const char *a = argv[*i], *value;

	if ((value = option_value(argv, i, "--rate"))) {
		if (!option_number(value, &call->rate) || !call->rate ||
		    call->rate > EVENT_RATE_MOST)
			return misuse("--rate takes a number from 1 to %d, "
				      "not '%s'", EVENT_RATE_MOST, value);
	} else if (!strcmp(a, "-o")) {
		call->directory = argv[*i + 1] ? argv[++*i] : "";
		if (!*call->directory)
			return misuse("-o takes the name of a directory");
	} else if (!strcmp(a, "--quiet")) {
		call->quiet = true;
	} else {
		return misuse("unknown option '%s'", a);
	}
	return 0;
}

static void say_what_was_recorded(const struct recorded *r)
{
	char text[160];

	snprintf(text, sizeof text, "%" PRIu64 " samples of %s%s%s", r->samples,
		 r->event, r->kernel ? "" : ", user mode only",
		 r->samples ? "" : ": it was too short");
	cmd_note(text);
	if (r->lost) {
		snprintf(text, sizeof text, "%" PRIu64 " samples more were "
			 "lost: they were not read in time", r->lost);
		cmd_note(text);
	}
	if (r->names.code)
		cmd_note(r->names.text);
}

/* what has most samples of the epoch of this host */
static int show_hottest(const char *directory, int64_t epoch, struct err *e)
{
	char host[STORE_HOST], *path = store_path(directory);
	struct sampled_pick one = {.first = epoch, .last = epoch,
				   .host = store_host(path, host)};

	mem_free(path);
	return report_show_hottest(directory, &one, HOTTEST, stderr, e);
}

/* runs and shows; the exit status */
static int record_run(const struct record_call *call, struct program *p)
{
	char *own = call->directory ? NULL : option_output(call->program[0],
							   ".samples");
	struct record_wish w = {
		.directory = call->directory ? call->directory : own,
		.rate = call->rate, .file = p->execfn, .argv = call->program,
		.envp = environ,
	};
	struct recorded r;
	struct err e = {0};
	int status = record(&w, &r, &e);

	/* the kernel does not know such files; a shell does */
	if (status < 0 && r.why == ENOEXEC) {
		w.file = p->path;
		w.argv = p->argv.at;
		status = record(&w, &r, &e);
	}
	if (status < 0 && r.why)
		err_set(&e, ERR_INPUT, "%s: %s", w.file, strerror(r.why));
	if (e.code)
		cmd_fail(&e);
	if (status >= 0) {
		say_what_was_recorded(&r);
		if (!call->quiet && r.samples &&
		    show_hottest(w.directory, r.epoch, &e))
			cmd_fail(&e);
	}
	mem_free(own);
	return status >= 0 && !r.unstored ? status :
	       r.why ? LAUNCH_NO_PROGRAM : LAUNCH_FAILED;
}

static int record_main(int argc, char **argv)
{
	struct record_call call = {.rate = EVENT_RATE};
	struct program p;
	struct err e = {0};
	int status = option_program(argc, argv, record_usage, record_option,
				    &call, &call.program);

	if (status >= 0)
		return status;
	if (!call.program[0])
		return misuse("which PROGRAM?");
	status = (int)find_program(&p, call.program, &e);
	/* one with other rights is not rewritten, but may be looked at */
	if (status == FOUND || status == FOUND_REFUSED)
		status = record_run(&call, &p);
	else
		cmd_fail(&e);
	program_free(&p);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "where a program's time goes, by samples",
	.usage = record_usage,
	.run = record_main,
	.own_help = true,
};
