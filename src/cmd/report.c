/*
 * report: `tally report [--by ...] [--limit N] [--json] SOURCE...`, where the
 * instructions went, or the time.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/render/calls_show.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/sources.h"
#include "report/rows_pick.h"

struct report_call {
	struct word_list profile;
	int by; /* enum by */
	struct rows_query query;
	bool json, same_work;
	struct samples_query pick; /* of databases */
};

static const struct option_choice bys[] = {
	{"procedure", BY_PROCEDURE,
	 "executed instructions, their share, calls; the default", NULL},
	{"image", BY_IMAGE, "the program and its libraries",
	 "It lists how many counters they have, how often these were "
	 "incremented, and what share of their code is left in place, where "
	 "nothing is measured."},
	{"line", BY_LINE, "lines of the source; needs debug information",
	 "It lists how often each ran, and the instructions executed there. As "
	 "for gcov(1), that is how often control came to it from other lines, "
	 "be it to one of several statements or cases, and how often loops "
	 "went round that are all on it; in each copy of its function (inlined "
	 "calls, instances of templates), all together, but not in functions "
	 "that the compiler made, if there is anything else on the line. Of "
	 "code that is not optimized the numbers are gcov's, but for one line "
	 "in a hundred: expressions over several lines, of which gcov counts "
	 "other blocks, and statements that return, which gcov counts again "
	 "for destructors behind them. The line that declares a function ran "
	 "as often as that began. Where the compiler left nothing of a line "
	 "but a mark of where it would be, it ran as often as what is there; "
	 "of labels of cases it leaves nothing."},
	{"process", BY_PROCESS, "each process of the run",
	 "It lists its number, process id, and the number of the process it "
	 "came from."},
	{"instruction", BY_INSTRUCTION,
	 "executions of every instruction, and their share", NULL},
	{"block", BY_BLOCK, "basic blocks, of profiles only",
	 "It lists executions, the share of all instructions that they "
	 "executed, address, instructions in it."},
	{"edge", BY_EDGE, "branches, calls and returns, of profiles only",
	 "It lists executions, and the blocks that they lead from and to. "
	 "Edges and call sites execute nothing: they have no share for --min."},
	{"call-site", BY_CALL_SITE, "callers and callees, of profiles only",
	 "It lists executions, the addresses of the call and of the callee, "
	 "what kind of call it is (`call`; `jump`, to another procedure; "
	 "`indirect-call`; `indirect-jump`, anywhere), its procedure, and the "
	 "callee's. The callees of indirect calls are known if the program was "
	 "counted with `tally count --calls`; where they are not, the row says "
	 "why. Of a profile of `tally events --per-call-site` it lists what "
	 "calls cost, with all that the callee did, of each event: of "
	 "outermost calls, and of all; by procedure, its own cost, too."},
	{"event", BY_EVENT, "events, of databases only",
	 "It lists how many samples there are of each event, how many were "
	 "lost, and after how many of its own units (cycles, nanoseconds) one "
	 "was taken."},
	{"epoch", BY_EPOCH, "epochs, of databases only",
	 "It lists them in their order: number, start, seconds, host and what "
	 "was recorded."},
	{0},
};

static const struct option_choice sorts[] = {
	{"count", SORT_COUNT, "most first; the default", NULL},
	{"calls", SORT_CALLS, "of procedures: most calls first", NULL},
	{"address", SORT_ADDRESS, "by address; lines by their number, images "
				  "by name", NULL},
	{"name", SORT_NAME, "by the procedure's name", NULL},
	{0},
};

static const struct option report_options[] = {
	{"by", .type = &type_choice, .choices = bys,
	 FILLS(struct report_call, by), .help = "what to list"},
	{"image", .type = &type_image, FILLS(struct report_call, query.image),
	 .help = "only of that image: its file's name, without folders, or a "
		 "pattern with *, ? and [...] as shells have them"},
	{"procedure", .type = &type_procedure,
	 FILLS(struct report_call, query.procedure),
	 .help = "only of that procedure: a name, 0x<ADDRESS> or a pattern",
	 .more = "A name is as it is shown, with or without arguments, or a "
		 "symbol; the address is that of anything in it. Images, "
		 "processes and lines are in no procedure."},
	{"sort", .type = &type_choice, .choices = sorts,
	 FILLS(struct report_call, query.sort),
	 .help = "in another order"},
	{"reverse", .type = &type_flag,
	 FILLS(struct report_call, query.reverse),
	 .help = "the other way round; what is not known stays last"},
	{"all", .type = &type_flag, FILLS(struct report_call, query.all),
	 .help = "also what did not run, with count 0",
	 .more = "What was not measured is never listed."},
	{0},
};

/* what is asked for has to be there; 0 or the exit status */
static int report_check(const struct report_call *call)
{
	const struct rows_query *w = &call->query;

	if (w->image && call->by == BY_PROCESS)
		return cmd_misuse(&cmd_report, "processes are in no image");
	if (w->procedure && !rows_have_procedures((enum by)call->by))
		return cmd_misuse(&cmd_report, "--procedure does not go with "
				  "--by image, process or line");
	if (w->share && !rows_have_shares((enum by)call->by))
		return cmd_misuse(&cmd_report, "--min does not go with --by "
				  "edge or call-site");
	if (w->sort == SORT_CALLS && call->by != BY_PROCEDURE)
		return cmd_misuse(&cmd_report, "--sort calls goes with --by "
				  "procedure");
	return 0;
}

/* what is asked for has to be in the sources; 0 or the exit status */
static int report_fits(const struct report_call *call, const struct dataset *v)
{
	if (dataset_has(v, (enum by)call->by))
		return 0;
	return cmd_misuse(&cmd_report, v->counts ? "--by event and epoch are "
			  "for databases" : "samples are not counted by edge, "
			  "block or call-site");
}

static void report_show(const struct report_call *call, struct dataset *v,
			const struct rows *r)
{
	if (v->counts && call->by == BY_LINE)
		report_show_lineless(v->counts, r->found);
	if (r->found && !r->wanted)
		cmd_note("nothing that ran is called so, or so large");
	if (call->json)
		report_show_json(r, stdout);
	else
		report_show_text(r, stdout);
	if (v->samples)
		report_show_sample_notes(v->samples);
}

/* what calls cost, where the profile says that; the exit status */
static int report_calls(const struct report_call *call,
			const struct dataset *v)
{
	struct run_calls r;
	struct err e;

	report_show_call_notes(v->counts);
	if (run_calls_make(&r, v->counts, &e))
		return cmd_fail(&e);
	if (call->by == BY_CALL_SITE)
		calls_show_sites(&r, &call->query, call->json, stdout);
	else
		calls_show_procedures(&r, &call->query, call->json, stdout);
	run_calls_free(&r);
	return STATUS_OK;
}

/* the exit status */
static int report_dataset(const struct report_call *call, struct dataset *v)
{
	struct rows_query w = call->query;
	struct rows r;
	struct err e;
	int status = report_fits(call, v);

	if (status)
		return status;
	w.sure = !call->json;
	v->same_work = call->same_work;
	if (v->counts && v->counts->profile.calls &&
	    (call->by == BY_CALL_SITE || call->by == BY_PROCEDURE))
		return report_calls(call, v);
	report_show_dataset_notes(v);
	if (rows_make(&r, v, (enum by)call->by, &w, &e))
		return cmd_fail(&e);
	report_show(call, v, &r);
	rows_free(&r);
	return STATUS_OK;
}

/* what is needed of databases for rows of a kind */
static void pick_depth(struct samples_query *pick, enum by by)
{
	pick->processes = by == BY_PROCESS;
	if (by == BY_IMAGE)
		pick->depth = SAMPLES_TOTALS;
	else if (by == BY_PROCESS || by == BY_EVENT || by == BY_EPOCH)
		pick->depth = SAMPLES_SUMS;
}

static int report_run(void *words, const struct arguments *a)
{
	struct report_call *call = words;
	int status = report_check(call);
	struct dataset v;
	struct err e;

	call->profile = a->operand;
	if (!status)
		status = sources_fit(&cmd_report, a, 0);
	if (status)
		return status;
	pick_depth(&call->pick, (enum by)call->by);
	if (sources_open(&v, call->profile.at, call->profile.n, &call->pick,
			 &e))
		return cmd_fail(&e);
	status = report_dataset(call, &v);
	dataset_close(&v);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "how often the parts of a program ran",
	.usage = "[OPTION...] PROFILE|TRACE|DB...",
	.about = "Shows how often the parts of a program ran, most first. "
		 "PROFILE is what `tally count` left, or is filling just now; "
		 "several of one program are added up. A TRACE of `tally "
		 "trace` is replayed, and tells the same. DB is what `tally "
		 "record` left: of that it shows where the samples fell. Of "
		 "both it shows both, and what one execution took.",
	.closing = "What did not run is not listed; what is not known is "
		   "called unknown.",
	.operands = (const struct operand[]){
		{"PROFILE or DB", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(report_options),
		OPTIONS_AT(min_option, struct report_call, query.share),
		OPTIONS_AT(limit_option, struct report_call, query.limit),
		OPTIONS_AT(same_work_option, struct report_call, same_work),
		OPTIONS_AT(json_option, struct report_call, json),
		OPTIONS(help_option),
		DATABASE_OPTIONS(struct report_call, pick), {0}},
	.defaults = &(const struct report_call){.by = BY_PROCEDURE,
						.query.limit = SIZE_MAX},
	.size = sizeof(struct report_call),
	.run = report_run,
};
