/*
 * diff: `tally diff A B`, what changed between two runs, also of two builds of
 * a program.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/render/diff_show.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/sources.h"
#include "report/rows_pick.h"

static const struct option_choice bys[] = {
	{"procedure", BY_PROCEDURE, "the default", NULL},
	{"block", BY_BLOCK, "executions of blocks; needs profiles",
	 "Blocks have their addresses before and after, and are the same, "
	 "changed, only before or only after."},
	{"edge", BY_EDGE, "branches, calls and returns; needs profiles",
	 "Edges have the blocks that they lead from and to. One that has "
	 "changed calls another procedure. They have no samples."},
	{"image", BY_IMAGE, "the program and its libraries", NULL},
	{"line", BY_LINE, "lines of the source; needs debug information",
	 "Lines are the same if their files and numbers are."},
	{"instruction", BY_INSTRUCTION, "executions of every instruction",
	 "Of profiles, instructions of another build are found by their "
	 "blocks; of databases alone only those of one build are the same."},
	{0},
};

struct diff_call {
	struct diff_query query;
	struct samples_query pick;
	struct diff_after {
		struct samples_query pick;
		bool given;
	} after; /* epochs of the only database */
	size_t limit;
	bool json;
};

static const struct option diff_options[] = {
	{"by", .type = &type_choice, .choices = bys,
	 FILLS(struct diff_call, query.by), .help = "what to list"},
	{"procedure", .type = &type_procedure,
	 FILLS(struct diff_call, query.procedure),
	 .help = "only of that procedure: a name or 0x<ADDRESS>",
	 .more = "A name is as tally-report(1) shows it, with or without "
		 "arguments, or a symbol; the address is that after, if it is "
		 "there."},
	{"image", .type = &type_image, FILLS(struct diff_call, query.image),
	 .help = "only of that image"},
	{"min", .type = &type_percent, FILLS(struct diff_call, query.share),
	 .help = "only changes of at least that share of all instructions",
	 .more = "It is a share of the longer run; of databases, so many "
		 "points."},
	{"all", .type = &type_flag, FILLS(struct diff_call, query.all),
	 .help = "also what did not change"},
	{0},
};

static bool read_after(const struct option *o, const char *word, void *field)
{
	struct diff_after *after = field;

	after->given = true;
	return type_epochs.read(o, word, &after->pick);
}

static bool read_rate(const struct option *o, const char *word, void *field)
{
	return type_percent.read(o, word, field) && *(double *)field > 0;
}

static const struct option_type
	type_after = {"EPOCHS",
		      "a number, or two with '-' between them", OFFER_NOTHING,
		      sizeof(struct diff_after), read_after},
	type_rate = {"PERCENT", "a percentage that is more than 0",
		     OFFER_NOTHING, sizeof(double), read_rate};

static const struct option diff_database_options[] = {
	{"against", .type = &type_after, .choices = epoch_choices,
	 FILLS(struct diff_call, after),
	 .help = "these epochs of the only DB are what is after, as those of "
		 "--epoch are what is before"},
	{"fdr", .type = &type_rate, FILLS(struct diff_call, query.rate),
	 .help = "so many of the differences that are marked may be noise; 5 "
		 "by default"},
	{0},
};

/* what is to be said of sources before what changed */
static void diff_notes(const struct diff *d)
{
	report_show_relative(d->runs.why_relative);
	for (int i = 0; d->counted && i < 2; i++)
		report_show_notes(&d->counts[i]);
	if (d->counted)
		report_show_uncompared(&d->match);
}

static int diff_unknown(const struct diff_query *q)
{
	const char *const *source = q->profile[0] ? q->profile : q->database;
	struct err e;

	err_set(&e, ERR_INPUT, "%s and %s: nothing in them is called so",
		source[0], source[1]);
	return cmd_fail(&e);
}

/* what changed, or not; the exit status */
static int diff_show(const struct diff_call *call)
{
	const struct diff_query *q = &call->query;
	struct diff d;
	struct err e;
	int status;

	if (diff_make(&d, q, &e))
		return cmd_fail(&e);
	diff_notes(&d);
	status = d.any ? STATUS_NO : STATUS_OK;
	if (!d.found && (q->image || q->procedure || d.sampled)) {
		status = diff_unknown(q);
	} else {
		if (call->json)
			diff_show_json(&d, call->limit, stdout);
		else
			diff_show_text(&d, call->limit, stdout);
		report_show_sample_notes(&d.samples);
		report_show_one_event(&d.runs);
	}
	diff_free(&d);
	return status;
}

/* the first profile and database are before, the second ones after; 0 or the
   exit status */
static int diff_sort(struct diff_query *q, const struct word_list *operand)
{
	for (size_t i = 0; i < operand->n; i++) {
		const char *word = operand->at[i];
		const char **to = store_is(word) ? q->database : q->profile;

		if (to[1])
			return cmd_misuse(&cmd_diff, "too many arguments: "
					  "'%s'",
					  word);
		to[!!to[0]] = word;
	}
	if (q->profile[0] && !q->profile[1])
		return cmd_misuse(&cmd_diff, q->database[0] ?
				  "a profile of each side, beside databases" :
				  "missing argument: AFTER");
	return 0;
}

/* which epochs are compared; 0 or the exit status */
static int diff_pick(struct diff_call *call)
{
	struct diff_query *q = &call->query;

	q->pick[0] = q->pick[1] = call->pick;
	if (!q->database[0])
		return 0;
	if (call->after.given == !!q->database[1])
		return cmd_misuse(&cmd_diff, "two DBs, or --epoch, --against "
				  "and one");
	if (call->after.given) {
		q->database[1] = q->database[0];
		q->pick[1].first = call->after.pick.first;
		q->pick[1].last = call->after.pick.last;
		q->pick[1].newest = call->after.pick.newest;
	}
	return 0;
}

/* what is asked for has to be there; 0 or the exit status */
static int diff_check(const struct diff_query *q)
{
	if (!diff_has(q))
		return cmd_misuse(&cmd_diff, "samples are not counted by %s",
				  q->by == BY_EDGE ? "edge" : "block");
	if (q->profile[0] && q->procedure && !rows_have_procedures(q->by))
		return cmd_misuse(&cmd_diff, "--procedure does not go with "
				  "--by image or line");
	return 0;
}

static int diff_run(void *words, const struct arguments *a)
{
	struct diff_call *call = words;
	int status = diff_sort(&call->query, &a->operand);

	if (!status)
		status = sources_fit(&cmd_diff, a, 0);
	if (!status)
		status = diff_check(&call->query);
	if (!status)
		status = diff_pick(call);
	return status ? status : diff_show(call);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what changed between two runs, or builds",
	.usage = "[OPTION...] BEFORE AFTER\n"
		 "[OPTION...] BEFORE BEFORE-DB AFTER AFTER-DB\n"
		 "[OPTION...] --epoch EPOCHS --against EPOCHS [BEFORE AFTER] "
		 "DB",
	.about = "Shows what changed between two profiles, most first: "
		 "instructions and calls of each procedure, and how many of "
		 "its edges ran more or less often. They may be of two builds "
		 "of a program: procedures are found by name, blocks by what "
		 "is in them and around them, edges by their blocks. What has "
		 "no counterpart is listed as only-before or only-after.\n"
		 "Of two databases of samples, or of epochs of one, it shows "
		 "shares of samples, and only differences that are more than "
		 "noise: epochs of a side tell how much runs vary.\n"
		 "Given two profiles and two databases it shows both side by "
		 "side, and what one execution took: the first profile and "
		 "the first database are what is before.",
	.closing = "Exit status: 0 nothing changed, 1 something did, 2 wrong "
		   "usage, 3 bad input.",
	.operands = (const struct operand[]){
		{.name = "BEFORE", .offer = OFFER_PROFILES},
		{"AFTER", OFFER_PROFILES, .optional = true},
		{"AFTER", OFFER_PROFILES, .optional = true},
		{"AFTER", OFFER_PROFILES, .optional = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(diff_options),
		OPTIONS_AT(limit_option, struct diff_call, limit),
		OPTIONS_AT(same_work_option, struct diff_call,
			   query.same_work),
		OPTIONS_AT(json_option, struct diff_call, json),
		OPTIONS(help_option),
		DATABASE_OPTIONS(struct diff_call, pick),
		{diff_database_options, .of_databases = true}, {0}},
	.defaults = &(const struct diff_call){.query = {.by = BY_PROCEDURE,
							.rate = 0.05},
					      .limit = SIZE_MAX},
	.size = sizeof(struct diff_call),
	.run = diff_run,
};
