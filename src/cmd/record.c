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

#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "launch/find.h"
#include "launch/launch.h"
#include "sample/events/event.h"
#include "sample/daemon/record.h"

enum { HOTTEST = 10 }; /* procedures that are shown */

struct record_call {
	const char *directory;
	uint64_t rate;
	bool quiet;
};

static const struct option record_options[] = {
	{"output", 'o', &type_directory, FILLS(struct record_call, directory),
	 .help = "the database, a directory; by default `NAME.samples`, of the "
		 "program's name; what is there already is kept",
	 .more = "Each run is an epoch of its own. The database is written "
		 "every five seconds; a kill of tally at any moment leaves it "
		 "whole. Several may write to it at the same time."},
	{0},
};

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
	struct samples_query one = {
		.first = epoch, .last = epoch, .host = store_host(path, host)};

	mem_free(path);
	return report_show_hottest(directory, &one, HOTTEST, stderr, e);
}

/* runs and shows; the exit status */
static int record_program(const struct record_call *call, char **program,
			  struct program *p)
{
	char *own = call->directory ? NULL : cmd_output(program[0],
							".samples");
	struct record_config w = {
		.directory = call->directory ? call->directory : own,
		.rate = call->rate, .file = p->execfn, .argv = program,
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

static int record_run(void *call, const struct arguments *a)
{
	struct program p;
	struct err e = {0};
	int status = (int)find_program(&p, a->program, &e);

	/* one with other rights is not rewritten, but may be looked at */
	if (status == FOUND || status == FOUND_REFUSED)
		status = record_program(call, a->program, &p);
	else
		cmd_fail(&e);
	program_free(&p);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "where a program's time goes, by samples",
	.usage = "[OPTION...] [--] PROGRAM [ARG...]",
	.about = "Runs PROGRAM as it is, looks many times a second where it "
		 "is, and all that it starts, and says where most of its time "
		 "went. Needs no privilege. `tally report DB` tells more.",
	.closing = "The exit status is the program's, or 128+N after signal "
		   "N; 127 if it is not found, 126 if it cannot be executed, "
		   "125 if tally fails.",
	.operands = (const struct operand[]){{.name = "PROGRAM"}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(record_options),
		OPTIONS_AT(rate_option, struct record_call, rate),
		OPTIONS_AT(quiet_option, struct record_call, quiet),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct record_call){.rate = EVENT_RATE},
	.size = sizeof(struct record_call),
	.run = record_run,
	.runs_program = true,
};
