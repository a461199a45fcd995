/*
 * replay: `tally replay TRACE`, what a traced program did: every block, every
 * instruction, every call, in order.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/shared_options.h"
#include "cmd/render/replay_show.h"
#include "cmd/render/status_line.h"
#include "export/trace/sinks.h"

enum replay_as { AS_NOTHING, AS_BLOCKS, AS_INSNS, AS_ADDRESSES, AS_CALLS,
		 AS_BBV };
enum replay_form { FORM_TEXT, FORM_DIN, FORM_LACKEY, FORM_CHAMPSIM,
		   FORM_DRMEMTRACE, FORM_SVG, FORM_HTML };

struct replay_call {
	int as, form;
	uint64_t process, thread, from, count, interval;
	bool interleave, json;
	const char *out;
};

enum { INTERVAL = 100000000 }; /* as SimPoint's authors have it */

static const struct option_choice kinds[] = {
	{"blocks", AS_BLOCKS,
	 "a line for each block that ran: <IMAGE>, a tab, 0x<ADDRESS>, a tab, "
	 "<INSTRUCTIONS>", NULL},
	{"insns", AS_INSNS,
	 "a line for each instruction: <IMAGE>, a tab, 0x<ADDRESS>", NULL},
	{"addresses", AS_ADDRESSES,
	 "a line for each access of memory: <IMAGE>, a tab, 0x<ADDRESS>, a "
	 "tab, r or w, a tab, 0x<DATA>, a tab, <SIZE>",
	 "Of a trace with --addresses. What is not known is a `?`."},
	{"calls", AS_CALLS, "what called what, indented by depth",
	 "`->` is a call and `<-` its return; what calls nothing has one line "
	 "for both. Behind the name is how many instructions the call took, "
	 "with those that it called."},
	{"bbv", AS_BBV, "basic-block vectors, for SimPoint",
	 "A line for each interval of a thread's instructions: how many of "
	 "them each block has executed."},
	{0},
};

static const struct option_choice forms[] = {
	{"text", FORM_TEXT, "lines for people and scripts; the default", NULL},
	{"din", FORM_DIN, "instruction fetches, for Dinero", NULL},
	{"lackey", FORM_LACKEY, "instruction fetches, as "
	 "`valgrind --tool=lackey --trace-mem=yes` writes them", NULL},
	{"champsim", FORM_CHAMPSIM, "instructions, for ChampSim", NULL},
	{"drmemtrace", FORM_DRMEMTRACE,
	 "instructions, as DynamoRIO's drmemtrace has them", NULL},
	{"svg", FORM_SVG, "a picture of a thread's calls over its "
	 "instructions", NULL},
	{"html", FORM_HTML, "the same as a page, to zoom and search in", NULL},
	{0},
};

static const struct option replay_options[] = {
	{"as", .type = &type_choice, .placeholder = "WHAT", .choices = kinds,
	 FILLS(struct replay_call, as),
	 .help = "what is told; without it what the trace holds",
	 .more = "Addresses are those in the original file."},
	{"format", .type = &type_choice, .placeholder = "FORMAT",
	 .choices = forms, FILLS(struct replay_call, form),
	 .help = "how it is written",
	 .more = "Formats of other tools are about instructions; addresses in "
		 "them are those that the original code had in the process. "
		 "They are described in <replay-formats.md>."},
	{"interval", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = INT64_MAX, FILLS(struct replay_call, interval),
	 .help = "instructions of a basic-block vector; 100,000,000 by "
		 "default"},
	{"process", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = REPLAY_ALL - 1, FILLS(struct replay_call, process),
	 .help = "of that process alone, as the trace numbers them"},
	{"thread", .type = &type_number, .placeholder = "N", .least = 0,
	 .most = REPLAY_ALL - 1, FILLS(struct replay_call, thread),
	 .help = "of that thread of each process alone, from 0"},
	{"interleave", .type = &type_flag,
	 FILLS(struct replay_call, interleave),
	 .help = "threads in the order of time",
	 .more = "Else they follow one another. A thread notes the time when "
		 "a part of its trace begins, of 64 KiB: within such parts "
		 "nothing is known of the order."},
	{"from", .type = &type_number, .placeholder = "N", .least = 0,
	 .most = INT64_MAX, FILLS(struct replay_call, from),
	 .help = "from that instruction of each thread on, counted from 0"},
	{"count", .type = &type_number, .placeholder = "N", .least = 0,
	 .most = INT64_MAX, FILLS(struct replay_call, count),
	 .help = "that many instructions of each thread"},
	{"output", 'o', &type_file, FILLS(struct replay_call, out),
	 .help = "where to write, instead of standard output"},
	{0},
};

/* --- what fits together */

static bool is_picture(const struct replay_call *call)
{
	return call->form == FORM_SVG || call->form == FORM_HTML;
}

/* 0 or the exit status */
static int check(const struct replay_call *call)
{
	bool calls = call->as == AS_CALLS, bbv = call->as == AS_BBV;

	if (is_picture(call) && call->as != AS_NOTHING && !calls)
		return cmd_misuse(&cmd_replay, "pictures are of calls: --as "
				  "calls");
	if (!is_picture(call) && call->form != FORM_TEXT &&
	    call->as != AS_NOTHING && call->as != AS_INSNS)
		return cmd_misuse(&cmd_replay, "that format is of "
				  "instructions: --as insns");
	if (call->json && (calls || bbv || call->form != FORM_TEXT))
		return cmd_misuse(&cmd_replay, "--json is for blocks, "
				  "instructions and addresses, and for what "
				  "the trace holds");
	if (bbv && call->interleave)
		return cmd_misuse(&cmd_replay, "basic-block vectors are of "
				  "one thread: no --interleave");
	return 0;
}

/* --- replays */

struct replaying {
	const struct replay_call *call;
	struct walks walks;
	struct replay_pick pick;
	struct status_line line;
	bool watched;
	FILE *to;
};

static struct replay_sink *make_sink(const struct replaying *r)
{
	static sink_maker *const own[] = {
		[AS_BLOCKS] = replay_show_blocks,
		[AS_INSNS] = replay_show_insns,
		[AS_ADDRESSES] = replay_show_addresses,
		[AS_CALLS] = replay_show_calls, [AS_BBV] = sink_bbv};
	static sink_maker *const foreign[] = {
		[FORM_DIN] = sink_din, [FORM_LACKEY] = sink_lackey,
		[FORM_CHAMPSIM] = sink_champsim,
		[FORM_DRMEMTRACE] = sink_drmemtrace};
	const struct replay_call *call = r->call;
	const struct sink_options o = {
		.walks = &r->walks,
		.interval = call->interval,
		.data = trace_note(r->walks.file, "addresses"),
		.json = call->json,
	};

	return call->form == FORM_TEXT ? own[call->as](r->to, &o) :
					 foreign[call->form](r->to, &o);
}

/* from the first instruction that was told to the one behind the last */
struct told {
	const struct trace_thread *thread; /* the last one */
	unsigned threads;
	uint64_t first, end;
};

static struct told tell_all(struct replaying *r, struct replay_sink *sink)
{
	struct told told = {.first = UINT64_MAX};
	struct replay_event x;
	struct replay replay;

	replay_begin(&replay, &r->walks, &r->pick);
	replay.progress = r->watched ? &r->line.progress : NULL;
	while (replay_next(&replay, &x) && !ferror(r->to)) {
		if (x.kind == REPLAY_THREAD) {
			told.thread = x.thread;
			told.threads++;
		} else if (x.kind == REPLAY_BLOCK) {
			if (told.first == UINT64_MAX)
				told.first = x.number;
			told.end = x.number + x.step->n;
		}
		if (sink)
			sink->take(sink, &x);
	}
	replay_end(&replay);
	return told;
}

static int draw(struct replaying *r, struct err *e)
{
	bool html = r->call->form == FORM_HTML;
	struct told told = tell_all(r, NULL);
	struct timeline *t;

	if (told.threads != 1)
		return err_set(e, ERR_INPUT, "%s: there are %u such threads, "
			       "and a picture is of one: --process, --thread",
			       r->walks.file->file.name, told.threads);
	t = NEW_ARRAY(struct timeline, 1);
	if (told.first == UINT64_MAX)
		told.first = told.end;
	timeline_begin(t, told.first, told.end,
		       html ? TIMELINE_HTML_PARTS : TIMELINE_SVG_PARTS);
	tell_all(r, &t->is);
	timeline_end(t);
	replay_show_timeline(t, &r->walks, told.thread, html, r->to);
	timeline_free(t);
	mem_free(t);
	return 0;
}

static int tell(struct replaying *r, struct err *e)
{
	struct replay_sink *sink;

	if (is_picture(r->call))
		return draw(r, e);
	sink = make_sink(r);
	tell_all(r, sink);
	sink->end(sink);
	return 0;
}

static void show_totals(const struct replaying *r,
			const struct trace_totals *t)
{
	if (r->call->json)
		replay_show_json(r->walks.file, t, r->to);
	else
		replay_show_text(r->walks.file, t, r->to);
}

static int replay(const struct replay_call *call, const struct trace_file *f,
		  FILE *to, struct err *e)
{
	struct replaying r = {
		.call = call,
		.pick = {
			.process = (uint32_t)call->process,
			.thread = (uint32_t)call->thread,
			.from = call->from,
			.count = call->count,
			.accesses = call->as == AS_ADDRESSES ||
				    call->form != FORM_TEXT,
			.interleave = call->interleave,
		},
		.to = to,
	};
	bool sums = call->as == AS_NOTHING && call->form == FORM_TEXT;
	struct trace_totals t;
	int status = 0;

	if (call->as == AS_ADDRESSES && !trace_note(f, "addresses"))
		return err_set(e, ERR_INPUT, "%s: it has no addresses of "
			       "data: tally trace --addresses records them",
			       f->file.name);
	if (walks_open(&r.walks, f, e))
		return -1;
	/* not among the lines that are printed */
	r.watched = sums || !isatty(fileno(to));
	if (r.watched)
		status_line_begin(&r.line);
	if (sums)
		totals_find(&t, &r.walks,
			    r.watched ? &r.line.progress : NULL);
	else
		status = tell(&r, e);
	if (r.watched)
		status_line_end(&r.line);
	if (sums) {
		show_totals(&r, &t);
		totals_free(&t);
	}
	walks_close(&r.walks);
	return status;
}

static int show(const struct replay_call *call, const struct trace_file *f,
		struct err *e)
{
	FILE *to = call->out ? fopen(call->out, "we") : stdout;
	int status = 0;

	if (to)
		status = replay(call, f, to, e);
	if (!to || (call->out && (ferror(to) | fclose(to))))
		return err_set(e, ERR_MACHINE, "%s: cannot write it: %s",
			       call->out, strerror(errno));
	return status;
}

static int replay_run(void *words, const struct arguments *a)
{
	const struct replay_call *call = words;
	int status = check(call);
	struct trace_file f;
	struct err e;

	if (status)
		return status;
	if (trace_open(&f, a->operand.at[0], &e))
		return cmd_fail(&e);
	status = show(call, &f, &e) ? cmd_fail(&e) : STATUS_OK;
	if (f.truncated)
		cmd_note("the trace is incomplete: its end is missing");
	trace_close(&f);
	return cmd_finish(status);
}

const struct command cmd_replay = {
	.name = "replay",
	.summary = "what a traced program did, step by step",
	.usage = "[OPTION...] TRACE",
	.about = "Tells what is in a trace that `tally trace` has recorded. "
		 "Lines that begin with # tell of threads, of code that is "
		 "not traced, and how a thread ended.",
	.operands = (const struct operand[]){
		{.name = "TRACE", .offer = OFFER_FILES}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(replay_options),
		OPTIONS_AT(json_option, struct replay_call, json),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct replay_call){
		.process = REPLAY_ALL, .thread = REPLAY_ALL,
		.count = UINT64_MAX, .interval = INTERVAL},
	.size = sizeof(struct replay_call),
	.run = replay_run,
};
