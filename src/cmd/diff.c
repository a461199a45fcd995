/*
 * diff: `tally diff A B`, what changed between two runs, also of two builds of
 * a program.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/diff_show.h"
#include "cmd/option.h"
#include "cmd/report_show.h"

static const char diff_usage[] =
	"usage: tally diff [OPTION...] BEFORE AFTER\n"
	"\n"
	"Shows what changed between two profiles, most first: instructions\n"
	"and calls of each procedure, and how many of its edges ran more or\n"
	"less often. They may be of two builds of a program: procedures are\n"
	"found by name, blocks by what is in them and around them, edges by\n"
	"their blocks. What has no counterpart is listed as only-before or\n"
	"only-after.\n"
	"\n"
	"  --by procedure|block|edge  what to list; procedure by default\n"
	"  --procedure NAME  only of that one, a name or 0xADDRESS\n"
	"  --image NAME      only of that one\n"
	"  --min PERCENT     only changes of at least that much of all\n"
	"  --all             also what did not change\n"
	"  --limit N         only the first N\n"
	"  --json            for programs\n"
	"\n"
	"Exit status: 0 nothing changed, 1 something did, 2 wrong usage,\n"
	"3 bad input.\n";

struct diff_call {
	const char *profile[2];
	struct change_wish wish;
	size_t limit;
	bool json;
};

static int diff_by(struct diff_call *call, const char *value)
{
	static const char *const names[] = {
		[CHANGE_PROCEDURES] = "procedure", [CHANGE_BLOCKS] = "block",
		[CHANGE_EDGES] = "edge",
	};

	for (int i = CHANGE_PROCEDURES; i <= CHANGE_EDGES; i++)
		if (!strcmp(value, names[i])) {
			call->wish.by = (enum change_by)i;
			return 0;
		}
	return cmd_misuse(&cmd_diff, "--by procedure, block or edge, not "
			  "'%s'", value);
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

/* reads one word; 0 or the exit status */
static int diff_word(void *to, char **argv, int *i, bool option)
{
	struct diff_call *call = to;
	const char *a = argv[*i], *value;
	int status;

	if (!option)
		return diff_profile(call, a);
	status = diff_number(call, argv, i);
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

static int diff_run(int argc, char **argv)
{
	struct diff_call call = {.limit = SIZE_MAX};
	int status = option_each(argc, argv, diff_word, &call);

	if (!status && !call.profile[1])
		status = cmd_misuse(&cmd_diff, "which two PROFILEs?");
	return status ? status : diff_both(&call);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what changed between two runs, or builds",
	.usage = diff_usage,
	.run = diff_run,
};
