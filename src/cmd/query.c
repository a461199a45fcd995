/*
 * query: `tally query PID`, the exact counts of a program that `tally events`
 * runs, now.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/options/shared_options.h"
#include "cmd/render/events_show.h"
#include "profile/run_query.h"

struct query_call {
	bool json;
	double every; /* seconds; 0: once */
	uint64_t times;
};

static bool read_seconds(const struct option *o, const char *word, void *field)
{
	char *end;
	double s = strtod(word, &end);

	(void)o;
	*(double *)field = s;
	return *word && !*end && s >= 0 && s <= 1e6;
}

static const struct option_type type_seconds = {
	"SECONDS", "a number of seconds", OFFER_NOTHING, sizeof(double),
	read_seconds};

static const struct option query_options[] = {
	{"every", .type = &type_seconds, FILLS(struct query_call, every),
	 .help = "ask again and again, and print what happened in between, per "
		 "second",
	 .more = "Until the program ends, or is interrupted. The first line of "
		 "each event is its count so far."},
	{"times", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = UINT64_MAX, FILLS(struct query_call, times),
	 .help = "with --every: so often"},
	{0},
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
	double left = when - seconds_now();
	struct timespec t = {.tv_sec = (time_t)left};

	if (left <= 0)
		return;
	t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static void show(const struct query_call *call, const struct run_events *r)
{
	if (call->json)
		events_show_json(r, NULL, stdout);
	else
		events_show_text(r, NULL, stdout);
}

/* what happened since: seconds since the first, the difference, its rate */
static void show_rates(const struct run_events *r,
		       const struct event_total *was, double since,
		       double passed)
{
	for (unsigned i = 0; i < r->list->n; i++) {
		uint64_t n = r->at[i].n - was[i].n;

		if (!event_total_is_known(&r->at[i]) ||
		    !event_total_is_known(&was[i]))
			printf("%12.6f  %18s  %18s  %s\n", since, "unknown",
			       "unknown", r->list->at[i].name);
		else
			printf("%12.6f  %18" PRIu64 "  %16.0f/s  %s\n", since,
			       n, (double)n / passed, r->list->at[i].name);
	}
	fflush(stdout);
}

/* until the program ends; the exit status */
static int ask_often(const struct query_call *call, struct run_query *q,
		     struct run_events *r)
{
	struct event_total was[EVENTS_MAX];
	double first = seconds_now(), last = first;
	struct err e;

	for (uint64_t i = 1; !call->times || i < call->times; i++) {
		double now;

		memcpy(was, r->at, sizeof was);
		run_events_free(r);
		sleep_until(first + (double)i * call->every);
		if (run_query_ask(q, r, &e)) {
			*r = (struct run_events){.list = run_query_list(q)};
			cmd_note(e.text);
			break;
		}
		now = seconds_now();
		if (call->json)
			show(call, r);
		else
			show_rates(r, was, now - first, now - last);
		last = now;
	}
	return cmd_finish(STATUS_OK);
}

static int query_run(void *words, const struct arguments *a)
{
	struct query_call *call = words;
	struct run_events r;
	struct run_query *q;
	uint64_t pid;
	struct err e;
	bool all;
	int status;

	if (!option_number(a->operand.at[0], &pid) || !pid || pid > INT32_MAX)
		return cmd_misuse(&cmd_query, "'%s' is no number of a process",
				  a->operand.at[0]);
	q = run_query_open((pid_t)pid, &all, &e);
	if (!q)
		return cmd_fail(&e);
	if (run_query_ask(q, &r, &e)) {
		run_query_close(q);
		return cmd_fail(&e);
	}
	show(call, &r);
	if (call->every > 0 || call->times > 1)
		status = ask_often(call, q, &r);
	else
		status = cmd_finish(STATUS_OK);
	run_events_free(&r);
	run_query_close(q);
	return status;
}

const struct command cmd_query = {
	.name = "query",
	.summary = "the counts of events of a running program, now",
	.usage = "[OPTION...] PID",
	.about = "Prints how often events happened so far in a program that "
		 "`tally events` runs: exact numbers, of each thread at a "
		 "moment during the call. PID is `tally events` itself, for "
		 "the whole run, or one of its processes.\n"
		 "With `tally events --online` a thread that runs is stopped "
		 "for some microseconds, and one that sleeps not at all; "
		 "without, all stop while their counters are copied.",
	.operands = (const struct operand[]){
		{.name = "PID", .offer = OFFER_NOTHING}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(query_options),
		OPTIONS_AT(json_option, struct query_call, json),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct query_call){0},
	.size = sizeof(struct query_call),
	.run = query_run,
};
