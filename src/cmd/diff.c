/*
 * diff: `tally diff A B`, what changed between two runs, also of two builds of
 * a program.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/diff_show.h"
#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/sampled_option.h"

static const char diff_usage[] =
	"usage: tally diff [OPTION...] BEFORE AFTER\n"
	"       tally diff [OPTION...] --epoch EPOCHS --against EPOCHS DB\n"
	"\n"
	"Shows what changed between two profiles, most first: instructions\n"
	"and calls of each procedure, and how many of its edges ran more or\n"
	"less often. They may be of two builds of a program: procedures are\n"
	"found by name, blocks by what is in them and around them, edges by\n"
	"their blocks. What has no counterpart is listed as only-before or\n"
	"only-after.\n"
	"\n"
	"Of two databases of samples, or of epochs of one, it shows shares of\n"
	"samples, and only differences that are more than noise: epochs of a\n"
	"side tell how much runs vary.\n"
	"\n"
	"  --by procedure|block|edge  what to list; procedure by default\n"
	"  --by procedure|image|line|instruction  the same of databases\n"
	"  --procedure NAME  only of that one, a name or 0xADDRESS\n"
	"  --image NAME      only of that one\n"
	"  --min PERCENT     only changes of at least that much of all\n"
	"  --all             also what did not change\n"
	"  --limit N         only the first N\n"
	"  --json            for programs\n"
	SAMPLED_OPTION_HELP
	"  --against last|N|N-M  those epochs of the DB are AFTER\n"
	"  --fdr PERCENT     so many of the differences may be noise; 5 by\n"
	"                    default\n"
	"\n"
	"Exit status: 0 nothing changed, 1 something did, 2 wrong usage,\n"
	"3 bad input.\n";

/* the values of --by: what they are of profiles and of databases, or -1 */
static const struct diff_by {
	const char *name;
	int profiles, databases;
} bys[] = {
	{"procedure", CHANGE_PROCEDURES, SAMPLED_PROCEDURE},
	{"block", CHANGE_BLOCKS, -1},
	{"edge", CHANGE_EDGES, -1},
	{"image", -1, SAMPLED_IMAGE},
	{"line", -1, SAMPLED_LINE},
	{"instruction", -1, SAMPLED_INSTRUCTION},
};

struct diff_call {
	const char *profile[2];
	const struct diff_by *by;
	struct change_wish wish;
	struct sampled_option of;
	struct sampled_pick against;
	bool has_against;
	double rate; /* 0: not given */
	size_t limit;
	bool json;
};

static int diff_by(struct diff_call *call, const char *value)
{
	for (size_t i = 0; i < sizeof bys / sizeof *bys; i++)
		if (!strcmp(value, bys[i].name)) {
			call->by = &bys[i];
			return 0;
		}
	return cmd_misuse(&cmd_diff, "--by procedure, block, edge, image, "
			  "line or instruction, not '%s'", value);
}

static int diff_profile(struct diff_call *call, const char *word)
{
	int i = call->profile[0] != NULL;

	if (call->profile[i])
		return cmd_misuse(&cmd_diff, "two profiles at a time");
	call->profile[i] = word;
	return 0;
}

/* options with a number; 0, the exit status, or -1: it is none of them */
static int diff_number(struct diff_call *call, char **argv, int *i)
{
	const char *value;

	if ((value = option_value(argv, i, "--limit")))
		return option_number(value, &call->limit) ? 0 :
			cmd_misuse(&cmd_diff, "--limit takes a number, not "
				   "'%s'", value);
	if ((value = option_value(argv, i, "--min")))
		return option_percent(value, &call->wish.share) ? 0 :
			cmd_misuse(&cmd_diff, "--min takes a percentage, not "
				   "'%s'", value);
	return -1;
}

/* options for databases; the same */
static int diff_sampled(struct diff_call *call, char **argv, int *i)
{
	const char *value;

	if ((value = option_value(argv, i, "--against"))) {
		call->of.used = "--against";
		call->has_against = true;
		return sampled_option_epochs(value, &call->against) ? 0 :
			cmd_misuse(&cmd_diff, "--against last, a number or "
				   "two with '-' between them, not '%s'",
				   value);
	}
	if ((value = option_value(argv, i, "--fdr"))) {
		call->of.used = "--fdr";
		return option_percent(value, &call->rate) && call->rate > 0 ?
			0 : cmd_misuse(&cmd_diff, "--fdr takes a percentage "
				       "that is more than 0, not '%s'", value);
	}
	return sampled_option(&call->of, &cmd_diff, argv, i);
}

/* reads one word; 0 or the exit status */
static int diff_word(void *to, char **argv, int *i, bool option)
{
	struct diff_call *call = to;
	const char *a = argv[*i], *value;
	int status;

	if (!option)
		return diff_profile(call, a);
	status = diff_number(call, argv, i);
	if (status < 0)
		status = diff_sampled(call, argv, i);
	if (status >= 0)
		return status;
	if ((value = option_value(argv, i, "--by")))
		return diff_by(call, value);
	if ((value = option_value(argv, i, "--procedure")))
		call->wish.procedure = value;
	else if ((value = option_value(argv, i, "--image")))
		call->wish.image = value;
	else if (!strcmp(a, "--json"))
		call->json = true;
	else if (!strcmp(a, "--all"))
		call->wish.all = true;
	else
		return cmd_misuse(&cmd_diff, "unknown option '%s'", a);
	return 0;
}

/* what changed, or not; the exit status */
static int diff_show(const struct diff_call *call, const struct told *a,
		     const struct told *b)
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
	struct told a, b;
	struct err e;
	int status;

	if (told_open(&a, &call->profile[0], 1, &e))
		return cmd_fail(&e);
	if (told_open(&b, &call->profile[1], 1, &e)) {
		told_close(&a);
		return cmd_fail(&e);
	}
	report_show_notes(&a);
	report_show_notes(&b);
	status = diff_show(call, &a, &b);
	told_close(&b);
	told_close(&a);
	return status;
}

static int diff_profiles(struct diff_call *call)
{
	if (call->by->profiles < 0)
		return cmd_misuse(&cmd_diff, "--by %s is for databases",
				  call->by->name);
	call->wish.by = (enum change_by)call->by->profiles;
	return diff_both(call);
}

static int diff_databases(const struct diff_call *call)
{
	struct diff_sampled x = {
		.source = {call->profile[0], call->profile[1]},
		.pick = {call->of.pick, call->of.pick},
		.wish = {(enum sampled_by)call->by->databases,
			 call->wish.image, call->wish.procedure},
		.share = call->wish.share, .all = call->wish.all,
		.rate = call->rate > 0 ? call->rate : 0.05,
		.limit = call->limit, .json = call->json,
	};

	if (call->by->databases < 0)
		return cmd_misuse(&cmd_diff, "samples are not counted by %s",
				  call->by->name);
	if (call->has_against == !!call->profile[1])
		return cmd_misuse(&cmd_diff, "two DBs, or --epoch, --against "
				  "and one");
	if (call->has_against) {
		x.source[1] = call->profile[0];
		x.pick[1].first = call->against.first;
		x.pick[1].last = call->against.last;
		x.pick[1].newest = call->against.newest;
	}
	return diff_sampled_show(&x);
}

static int diff_run(int argc, char **argv)
{
	struct diff_call call = {.limit = SIZE_MAX, .by = &bys[0]};
	int status = option_each(argc, argv, diff_word, &call);
	bool databases = false;

	if (!status && !call.profile[0])
		status = cmd_misuse(&cmd_diff, "which two PROFILEs, or DBs?");
	if (!status)
		status = sampled_sources(&cmd_diff, call.profile,
					 call.profile[1] ? 2 : 1, &call.of,
					 &databases);
	if (!status && !databases && !call.profile[1])
		status = cmd_misuse(&cmd_diff, "which two PROFILEs?");
	if (status)
		return status;
	return databases ? diff_databases(&call) : diff_profiles(&call);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what changed between two runs, or builds",
	.usage = diff_usage,
	.run = diff_run,
};
