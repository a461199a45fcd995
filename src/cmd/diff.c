/*
 * diff: `tally diff A B`, what changed between two runs, also of two builds of
 * a program.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/diff_show.h"
#include "cmd/report_show.h"
#include "cmd/shared_options.h"

/* what it is listed by, of profiles and of databases; -1: not by that */
enum diff_by { DIFF_PROCEDURE, DIFF_BLOCK, DIFF_EDGE, DIFF_IMAGE, DIFF_LINE,
	       DIFF_INSTRUCTION };
static const struct {
	int profiles, databases;
} kinds[] = {
	[DIFF_PROCEDURE] = {CHANGE_PROCEDURES, BY_PROCEDURE},
	[DIFF_BLOCK] = {CHANGE_BLOCKS, -1},
	[DIFF_EDGE] = {CHANGE_EDGES, -1},
	[DIFF_IMAGE] = {-1, BY_IMAGE},
	[DIFF_LINE] = {-1, BY_LINE},
	[DIFF_INSTRUCTION] = {-1, BY_INSTRUCTION},
};

static const struct option_choice bys[] = {
	[DIFF_PROCEDURE] = {"procedure", DIFF_PROCEDURE, "the default", NULL},
	[DIFF_BLOCK] = {"block", DIFF_BLOCK,
		"executions of blocks, of profiles only",
		"Blocks have their addresses before and after, and are the "
		"same, changed, only before or only after."},
	[DIFF_EDGE] = {"edge", DIFF_EDGE,
		"branches, calls and returns, of profiles only",
		"Edges have the blocks that they lead from and to. One that "
		"has changed calls another procedure."},
	[DIFF_IMAGE] = {"image", DIFF_IMAGE, "of databases only", NULL},
	[DIFF_LINE] = {"line", DIFF_LINE, "of databases only", NULL},
	[DIFF_INSTRUCTION] = {"instruction", DIFF_INSTRUCTION,
		"of databases only", NULL},
	{0},
};

struct diff_call {
	const char *profile[2];
	enum diff_by by;
	struct change_wish wish;
	struct samples_query pick;
	struct diff_after {
		struct samples_query pick;
		bool given;
	} after; /* epochs of the only database */
	double rate; /* of false discoveries */
	size_t limit;
	bool json;
};

static const struct option diff_options[] = {
	{"by", .type = &type_choice, .choices = bys,
	 FILLS(struct diff_call, by), .help = "what to list"},
	{"procedure", .type = &type_procedure,
	 FILLS(struct diff_call, wish.procedure),
	 .help = "only of that procedure: a name or 0x<ADDRESS>",
	 .more = "A name is as tally-report(1) shows it, with or without "
		 "arguments, or a symbol; the address is that after, if it is "
		 "there."},
	{"image", .type = &type_image, FILLS(struct diff_call, wish.image),
	 .help = "only of that image"},
	{"min", .type = &type_percent, FILLS(struct diff_call, wish.share),
	 .help = "only changes of at least that share of all instructions",
	 .more = "It is a share of the longer run; of databases, so many "
		 "points."},
	{"all", .type = &type_flag, FILLS(struct diff_call, wish.all),
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
	{"fdr", .type = &type_rate, FILLS(struct diff_call, rate),
	 .help = "so many of the differences that are marked may be noise; 5 "
		 "by default"},
	{0},
};

/* what changed, or not; the exit status */
static int diff_show(const struct diff_call *call, const struct counts *a,
		     const struct counts *b)
{
	struct match m;
	struct changes c;
	struct err e;
	int status;

	match_make(&m, a, b);
	report_show_uncompared(&m);
	changes_make(&c, &m, &call->wish);
	status = c.any ? STATUS_NO : STATUS_OK;
	if (!c.found && (call->wish.image || call->wish.procedure)) {
		err_set(&e, ERR_INPUT, "%s and %s: nothing in them is called "
			"so", call->profile[0], call->profile[1]);
		status = cmd_fail(&e);
	} else if (call->json) {
		diff_show_json(&c, call->wish.by, call->limit, stdout);
	} else {
		diff_show_text(&c, call->wish.by, call->limit, stdout);
	}
	changes_free(&c);
	match_free(&m);
	return status;
}

static int diff_both(const struct diff_call *call)
{
	struct counts a, b;
	struct err e;
	int status;

	if (counts_open(&a, &call->profile[0], 1, &e))
		return cmd_fail(&e);
	if (counts_open(&b, &call->profile[1], 1, &e)) {
		counts_close(&a);
		return cmd_fail(&e);
	}
	report_show_notes(&a);
	report_show_notes(&b);
	status = diff_show(call, &a, &b);
	counts_close(&b);
	counts_close(&a);
	return status;
}

static int diff_profiles(struct diff_call *call)
{
	if (kinds[call->by].profiles < 0)
		return cmd_misuse(&cmd_diff, "--by %s is for databases",
				  bys[call->by].name);
	call->wish.by = (enum change_by)kinds[call->by].profiles;
	return diff_both(call);
}

static int diff_databases(const struct diff_call *call)
{
	struct diff_shares x = {
		.source = {call->profile[0], call->profile[1]},
		.pick = {call->pick, call->pick},
		.by = (enum by)kinds[call->by].databases,
		.wish = {.image = call->wish.image,
			 .procedure = call->wish.procedure},
		.share = call->wish.share, .all = call->wish.all,
		.rate = call->rate, .limit = call->limit, .json = call->json,
	};

	if (kinds[call->by].databases < 0)
		return cmd_misuse(&cmd_diff, "samples are not counted by %s",
				  bys[call->by].name);
	if (call->after.given == !!call->profile[1])
		return cmd_misuse(&cmd_diff, "two DBs, or --epoch, --against "
				  "and one");
	if (call->after.given) {
		x.source[1] = call->profile[0];
		x.pick[1].first = call->after.pick.first;
		x.pick[1].last = call->after.pick.last;
		x.pick[1].newest = call->after.pick.newest;
	}
	return diff_shares_show(&x);
}

static int diff_run(void *words, const struct arguments *a)
{
	struct diff_call *call = words;
	bool databases;
	int status = sources_check(&cmd_diff, a, 0, &databases);

	call->profile[0] = a->operand.at[0];
	call->profile[1] = a->operand.n > 1 ? a->operand.at[1] : NULL;
	if (!status && !databases && !call->profile[1])
		status = cmd_misuse(&cmd_diff, "missing argument: AFTER");
	if (status)
		return status;
	return databases ? diff_databases(call) : diff_profiles(call);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what changed between two runs, or builds",
	.usage = "[OPTION...] BEFORE AFTER\n"
		 "[OPTION...] --epoch EPOCHS --against EPOCHS DB",
	.about = "Shows what changed between two profiles, most first: "
		 "instructions and calls of each procedure, and how many of "
		 "its edges ran more or less often. They may be of two builds "
		 "of a program: procedures are found by name, blocks by what "
		 "is in them and around them, edges by their blocks. What has "
		 "no counterpart is listed as only-before or only-after.\n"
		 "Of two databases of samples, or of epochs of one, it shows "
		 "shares of samples, and only differences that are more than "
		 "noise: epochs of a side tell how much runs vary.",
	.closing = "Exit status: 0 nothing changed, 1 something did, 2 wrong "
		   "usage, 3 bad input.",
	.operands = (const struct operand[]){
		{.name = "BEFORE", .offer = OFFER_PROFILES},
		{"AFTER", OFFER_PROFILES, .optional = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(diff_options),
		OPTIONS_AT(limit_option, struct diff_call, limit),
		OPTIONS_AT(json_option, struct diff_call, json),
		OPTIONS(help_option),
		DATABASE_OPTIONS(struct diff_call, pick),
		{diff_database_options, .of_databases = true}, {0}},
	.defaults = &(const struct diff_call){.limit = SIZE_MAX,
					      .rate = 0.05},
	.size = sizeof(struct diff_call),
	.run = diff_run,
};
