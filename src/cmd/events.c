/*
 * events: `tally events -e EVENT,.. [OPTION...] [--] PROGRAM [ARG...]`, exactly
 * how often events happen in a program. Without on-line answers they follow
 * from an edge profile of the run (events/derive.h).
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfg/cfg.h"
#include "cmd/counted_run.h"
#include "cmd/options/nearest.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/events_show.h"
#include "launch/limit.h"
#include "launch/stopper.h"

enum { TIMED_OUT = 124 };

/* the counts of one run, of several */
struct repetition {
	struct event_total at[EVENTS_MAX];
};

struct events_call {
	const char *events, *profile, *output;
	bool json, online, no_aslr, per_call_site;
	uint64_t timeout, repeat, stop_at, thread;
	struct stopper stopper;
	struct counted_call run;
	struct event_list list;
	unsigned shown; /* of the list; the others are for us */
	struct limit limit;
	VEC(struct repetition) before;
	FILE *to; /* where the text goes */
};

static const struct option events_options[] = {
	{"events", 'e', &type_text, .placeholder = "EVENT,..",
	 FILLS(struct events_call, events),
	 .help = "what is counted; `tally events list` lists the events",
	 .more = "Several are counted in one run. `insns` by default."},
	{"online", .type = &type_flag, FILLS(struct events_call, online),
	 .help = "keep running counters, exact at any moment"},
	{"per-call-site", .type = &type_flag,
	 FILLS(struct events_call, per_call_site),
	 .help = "count events by call site and callee, with all that the "
		 "callee did, for `report --by call-site`",
	 .more = "It implies --online, and needs -o."},
	{"stop-at", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = INT64_MAX, FILLS(struct events_call, stop_at),
	 .help = "stop the program when the first of the events has happened "
		 "so often in one thread, for a debugger to attach",
	 .more = "The thread stops exactly before its next instruction, and "
		 "with it the whole process, as by SIGSTOP; SIGCONT lets it go "
		 "on. A line on stderr says where it is. Children that it "
		 "forks do not stop. It implies --online."},
	{"thread", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = 1000000, FILLS(struct events_call, thread),
	 .help = "with --stop-at: which thread of the program, as they begin; "
		 "1, the first, by default"},
	{"check-steps", .type = &type_flag,
	 FILLS(struct events_call, stopper.checks),
	 .help = "a test mode: with --stop-at, every instruction from the "
		 "first on is a step, and no count may leave one out"},
	{"timeout-insns", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = INT64_MAX, FILLS(struct events_call, timeout),
	 .help = "end the program when a thread of it has executed so many "
		 "instructions, with status 124",
	 .more = "All its processes get SIGTERM, and after a second SIGKILL. "
		 "Whether that happens does not depend on how fast the machine "
		 "is: a program that ends by itself with a thread that has "
		 "executed as many ends with status 124, too. It needs "
		 "--online, which it implies."},
	{"repeat", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = 1000000, FILLS(struct events_call, repeat),
	 .help = "run it so often, and say which counts were the same"},
	{"no-aslr", .type = &type_flag, FILLS(struct events_call, no_aslr),
	 .help = "let addresses be the same in every run",
	 .more = "They are random otherwise, and counts of programs that sort "
		 "or hash addresses with them."},
	{"profile", 'o', &type_profile, FILLS(struct events_call, profile),
	 .help = "keep the profile of the run, for `tally report` and others",
	 .more = "A file of that name is replaced."},
	{"output", .type = &type_file, FILLS(struct events_call, output),
	 .help = "write the counts to <FILE> and not to stderr"},
	{0},
};

/* --- the list */

/* the known events, those first that were perhaps meant */
static int refuse_event(const char *name)
{
	struct nearest n = {.word = name};
	char meant[NEAREST_TEXT], all[512];
	size_t at = 0;

	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		nearest_offer(&n, event_words[k].name);
		at += (size_t)snprintf(all + at, sizeof all - at, "%s, ",
				       event_words[k].name);
	}
	return cmd_misuse(&cmd_events, "there is no event '%.100s'%s; there "
			  "are %sat:PLACE", name, nearest_text(&n, "", meant),
			  all);
}

/* 0 or the exit status */
static int read_events(struct events_call *call)
{
	struct err e;

	if (!event_list_read(&call->list, call->events, &e))
		return 0;
	/* the last one is what is wrong */
	if (e.code == ERR_USAGE && call->list.n &&
	    call->list.at[call->list.n - 1].kind == EVENT_KINDS &&
	    strncmp(call->list.at[call->list.n - 1].name, "at:", 3))
		return refuse_event(call->list.at[call->list.n - 1].name);
	if (e.code == ERR_USAGE)
		return cmd_misuse(&cmd_events, "%s", e.text);
	cmd_fail(&e);
	return LAUNCH_FAILED;
}

/* --- the run */

/* sets that mean nothing at all; 0 or the exit status */
static int check_seen(const struct run_events *r)
{
	int status = 0;
	char text[512];

	for (unsigned i = 0; i < r->list->n; i++) {
		if (r->list->at[i].kind != EVENT_AT || r->seen[i])
			continue;
		snprintf(text, sizeof text, "%.300s: nothing that ran has such "
			 "an instruction", r->list->at[i].name);
		cmd_note(text);
		status = LAUNCH_FAILED;
	}
	return status;
}

/* did any thread execute more than it may? */
static bool is_over(const struct events_call *call, const struct run_events *r)
{
	unsigned insns = call->limit.event;

	for (size_t i = 0; i < r->process.n; i++)
		for (uint32_t j = 0; j < r->process.at[i].nthread; j++)
			if (r->process.at[i].thread[j].at[insns].n >=
			    call->timeout)
				return true;
	return false;
}

static void show_counts(struct events_call *call, const struct run_events *r)
{
	struct repeated all = {0};
	struct repetition now;

	memcpy(now.at, r->at, sizeof now.at);
	vec_push(&call->before, now);
	if (call->before.n < call->repeat)
		return;
	if (call->repeat > 1)
		all = (struct repeated){&call->before.at[0].at,
					call->before.n};
	if (call->json)
		events_show_json(r, &all, call->to);
	else
		events_show_text(r, &all, call->to);
}

/* why it did not stop */
static void tell_missed(const struct events_call *call,
			const struct run_events *r)
{
	const struct stopper *s = &call->stopper;
	const struct process_events *p = &r->process.at[0];
	char text[768];

	if (s->e.code)
		snprintf(text, sizeof text, "not stopped: %s", s->e.text);
	else if (r->process.n && s->thread <= p->nthread)
		snprintf(text, sizeof text, "not stopped: the thread ended "
			 "after %" PRIu64 " %s",
			 p->thread[s->thread - 1].at[0].n,
			 call->list.at[0].name);
	else
		snprintf(text, sizeof text, "not stopped: there was no thread "
			 "%u", s->thread);
	cmd_note(text);
}

/* 0, the exit status, or -1 and *e */
static int show(struct events_call *call, const char *profile, struct err *e)
{
	struct run_events r;
	struct counts t;
	int status;

	if (counts_open(&t, &profile, 1, NULL, e))
		return -1;
	if (run_events_make(&r, &t, &call->list,
			    call->json || call->timeout || call->stop_at,
			    e)) {
		counts_close(&t);
		return -1;
	}
	r.shown = call->shown;
	show_counts(call, &r);
	status = check_seen(&r);
	if (call->stop_at && !call->stopper.stopped)
		tell_missed(call, &r);
	if (call->timeout && is_over(call, &r)) {
		cmd_note("a thread executed as many instructions as "
			 "--timeout-insns allows");
		status = TIMED_OUT;
	}
	run_events_free(&r);
	counts_close(&t);
	return status;
}

static void events_begin(void *ctx, const char *profile)
{
	struct events_call *call = ctx;

	call->stopper.profile = profile;
	if (!call->timeout)
		return;
	call->limit.profile = profile;
	call->limit.most = call->timeout;
	limit_begin(&call->limit);
}

static void events_end(void *ctx)
{
	struct events_call *call = ctx;

	if (call->timeout)
		limit_end(&call->limit);
	stopper_close(&call->stopper);
}

static int events_conclude(void *ctx, const struct launch *l, int status)
{
	struct events_call *call = ctx;
	struct err e;
	int wrong;

	wrong = show(call, l->profile, &e);
	if (wrong < 0) {
		cmd_fail(&e);
		wrong = LAUNCH_FAILED;
	}
	if (wrong == TIMED_OUT)
		return TIMED_OUT;
	return status ? status : wrong;
}

static int run_program_counted(struct events_call *call, char **program)
{
	uint64_t sum;
	char *asked = event_list_text(&call->list, &sum);
	char *own = call->profile ? NULL : cmd_temporary("events");
	struct counted_run r = {
		.call = &call->run,
		.profile = call->profile ? call->profile : own,
		.asked = asked,
		.no_aslr = call->no_aslr,
		.threads = true,
		.live = true,
		.stopper = call->stop_at ? &call->stopper : NULL,
		.begin = events_begin,
		.end = events_end,
		.conclude = events_conclude,
		.ctx = call,
	};
	int status = LAUNCH_FAILED;

	if (r.profile)
		status = counted_launch(&r, program);
	if (own)
		unlink(own);
	mem_free(own);
	mem_free(asked);
	return status;
}

/* opens where the text goes; 0 or the exit status */
static int open_output(struct events_call *call)
{
	char text[512];

	call->to = call->output ? fopen(call->output, "we") : stderr;
	if (call->to)
		return 0;
	snprintf(text, sizeof text, "%.400s: %s", call->output,
		 strerror(errno));
	cmd_note(text);
	return LAUNCH_FAILED;
}

/* 0 or the exit status */
static int close_output(const struct events_call *call)
{
	bool failed = fflush(call->to) || ferror(call->to);
	char text[512];

	if (call->output)
		failed |= fclose(call->to) != 0;
	if (!failed)
		return 0;
	snprintf(text, sizeof text, "%.400s: what was counted could not be "
		 "written", call->output ? call->output : "stderr");
	cmd_note(text);
	return LAUNCH_FAILED;
}

/* at once: a debugger waits for it */
static void tell_stopped(const struct stopper *s)
{
	char own[32];
	const char *name = s->entry ?
		cfg_name_of(*s->procedure ? s->procedure : NULL, s->entry, own,
			    sizeof own) : "[unknown]";

	fprintf(stderr, "tally: stopped after %" PRIu64 " %s: %s 0x%" PRIx64
		" %s+0x%" PRIx64 ", process %ld thread %ld\n", s->count,
		s->list->at[0].name, s->image, s->address, name,
		s->entry ? s->address - s->entry : 0, (long)s->pid,
		(long)s->tid);
	fflush(stderr);
}

/* running counters, if something asks for them */
static void prepare_online(struct events_call *call)
{
	call->shown = call->list.n;
	if (call->stop_at) {
		call->run.how.recipe.stops = true;
		call->stopper.count = call->stop_at;
		call->stopper.thread = (unsigned)call->thread;
		call->stopper.list = &call->list;
		call->stopper.tell = tell_stopped;
	}
	if (call->timeout)
		call->limit.event = event_list_need(&call->list, EVENT_INSNS);
	call->run.how.recipe.calls = call->per_call_site;
	if (call->online || call->timeout || call->stop_at ||
	    call->per_call_site)
		recipe_events(&call->run.how.recipe, &call->list);
}

/* `list`, and not a program of that name; --json may follow */
static bool is_list(const struct events_call *call, char *const *program)
{
	return !strcmp(program[0], "list") && !call->events &&
	       (!program[1] ||
		(!strcmp(program[1], "--json") && !program[2]));
}

static int events_run(void *words, const struct arguments *a)
{
	struct events_call *call = words;
	int status, wrong;

	if (is_list(call, a->program)) {
		events_show_list(stdout, call->json || a->program[1]);
		return cmd_finish(STATUS_OK);
	}
	if (!call->events)
		call->events = "insns";
	status = read_events(call);
	if (!status && call->per_call_site && !call->profile)
		status = cmd_misuse(&cmd_events, "--per-call-site needs -o, "
				    "for a profile that reports can be made "
				    "of");
	if (!status && call->per_call_site && call->stop_at)
		status = cmd_misuse(&cmd_events, "--per-call-site and "
				    "--stop-at do not go together");
	if (!status)
		status = counted_check(&cmd_events, &call->run);
	if (!status)
		prepare_online(call);
	if (!status)
		status = open_output(call);
	if (!status) {
		for (uint64_t i = 0; i < call->repeat; i++)
			status = run_program_counted(call, a->program);
		wrong = close_output(call);
		status = status ? status : wrong;
	}
	event_list_free(&call->list);
	vec_free(&call->before);
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.summary = "exactly how often events happen: loads, branches, calls",
	.usage = "-e EVENT,.. [OPTION...] [--] PROGRAM [ARG...]\n"
		 "list",
	.about = "Runs PROGRAM with its code, and that of its libraries, "
		 "rewritten so that it counts itself, and prints on stderr how "
		 "often each event happened, a line each: the count and the "
		 "name. No hardware counters are needed, and counts are the "
		 "same in every run that does the same.\n"
		 "`tally events list` lists the events that there are.",
	.closing = "The exit status is the program's, or 128+N after signal "
		   "N; 127 if it is not found, 126 if it cannot be executed, "
		   "125 if tally fails.",
	.operands = (const struct operand[]){{.name = "PROGRAM"}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(events_options),
		OPTIONS_AT(json_option, struct events_call, json),
		OPTIONS_AT(only_options, struct events_call, run.how),
		OPTIONS_AT(counted_options, struct events_call, run),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct events_call){.run = {COUNTED_DEFAULTS},
						.repeat = 1, .thread = 1},
	.size = sizeof(struct events_call),
	.run = events_run,
	.runs_program = true,
};
