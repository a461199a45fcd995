/*
 * report: `tally report [--by ...] [--limit N] [--json] SOURCE...`, where the
 * instructions went, or the time.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/sampled_option.h"
#include "cmd/sampled_show.h"
#include "report/rows_pick.h"

static const char report_usage[] =
	"usage: tally report [OPTION...] PROFILE...\n"
	"       tally report [OPTION...] DB...\n"
	"\n"
	"Shows how often the parts of a program ran, most first. PROFILE is\n"
	"what 'tally count' left, or is filling just now; several of one\n"
	"program are added up. DB is what 'tally record' left: of that it\n"
	"shows where the samples fell.\n"
	"\n"
	"  --by image|procedure|line|process|edge|block|instruction|call-site\n"
	"                    what to list; procedure by default\n"
	"  --by image|procedure|line|process|instruction|event|epoch\n"
	"                    the same of a DB\n"
	"  --image NAME      only of that image (* and ? are patterns)\n"
	"  --procedure NAME  only of that procedure: a name, 0xADDRESS or\n"
	"                    pattern\n"
	"  --min PERCENT     only what executed at least that much of all\n"
	"  --sort count|calls|address|name  in that order\n"
	"  --reverse         the other way round\n"
	"  --all             also what did not run\n"
	"  --limit N         only the first N\n"
	"  --json            for programs\n"
	SAMPLED_OPTION_HELP
	"\n"
	"What did not run is not listed; what is not known is called "
	"unknown.\n";

struct report_call {
	VEC(const char *) profile;
	enum rows_by by;
	struct rows_wish wish;
	bool json;
	int by_sampled; /* SAMPLED_EVENT or _EPOCH, of databases; else -1 */
	struct sampled_option of; /* the same */
};

/* the value of --by; -1 if there is no such one */
static int parse_by(const char *word)
{
	static const char *const names[] = {
		[BY_IMAGE] = "image", [BY_PROCEDURE] = "procedure",
		[BY_PROCESS] = "process", [BY_EDGE] = "edge",
		[BY_BLOCK] = "block", [BY_INSTRUCTION] = "instruction",
		[BY_CALL_SITE] = "call-site", [BY_LINE] = "line",
	};

	for (int i = 0; i <= BY_LINE; i++)
		if (!strcmp(word, names[i]))
			return i;
	return -1;
}

static int report_by(struct report_call *call, const char *value)
{
	int by = parse_by(value);

	call->by_sampled = !strcmp(value, "event") ? SAMPLED_EVENT :
			   !strcmp(value, "epoch") ? SAMPLED_EPOCH : -1;
	if (call->by_sampled >= 0)
		return 0;
	if (by < 0)
		return cmd_misuse(&cmd_report, "--by image, procedure, line, "
				  "process, edge, block, instruction, "
				  "call-site, event or epoch, not '%s'",
				  value);
	call->by = (enum rows_by)by;
	return 0;
}

static int report_sort(struct report_call *call, const char *value)
{
	static const char *const names[] = {
		[SORT_COUNT] = "count", [SORT_CALLS] = "calls",
		[SORT_ADDRESS] = "address", [SORT_NAME] = "name",
	};

	for (int i = SORT_COUNT; i <= SORT_NAME; i++)
		if (!strcmp(value, names[i])) {
			call->wish.sort = (enum rows_sort)i;
			return 0;
		}
	return cmd_misuse(&cmd_report, "--sort count, calls, address or name, "
			  "not '%s'", value);
}

/* options with a value; 0, the exit status, or -1: it is none of them */
static int report_value(struct report_call *call, char **argv, int *i)
{
	const char *value;

	if ((value = option_value(argv, i, "--by")))
		return report_by(call, value);
	if ((value = option_value(argv, i, "--sort")))
		return report_sort(call, value);
	if ((value = option_value(argv, i, "--limit")))
		return option_number(value, &call->wish.limit) ? 0 :
			cmd_misuse(&cmd_report, "--limit takes a number, not "
				   "'%s'", value);
	if ((value = option_value(argv, i, "--min")))
		return option_percent(value, &call->wish.share) ? 0 :
			cmd_misuse(&cmd_report, "--min takes a percentage, "
				   "not '%s'", value);
	if ((value = option_value(argv, i, "--image")))
		call->wish.image = value;
	else if ((value = option_value(argv, i, "--procedure")))
		call->wish.procedure = value;
	return value ? 0 : -1;
}

/* reads one word; 0 or the exit status */
static int report_word(void *to, char **argv, int *i, bool option)
{
	struct report_call *call = to;
	const char *a = argv[*i];
	int status = option ? report_value(call, argv, i) : 0;

	if (option && status < 0)
		status = sampled_option(&call->of, &cmd_report, argv, i);
	if (!option)
		vec_push(&call->profile, a);
	else if (status >= 0)
		return status;
	else if (!strcmp(a, "--json"))
		call->json = true;
	else if (!strcmp(a, "--all"))
		call->wish.all = true;
	else if (!strcmp(a, "--reverse"))
		call->wish.reverse = true;
	else
		return cmd_misuse(&cmd_report, "unknown option '%s'", a);
	return 0;
}

/* what is asked for has to be there; 0 or the exit status */
static int report_check(const struct report_call *call)
{
	const struct rows_wish *w = &call->wish;

	if (!call->profile.n)
		return cmd_misuse(&cmd_report, "which PROFILE?");
	if (w->image && call->by == BY_PROCESS)
		return cmd_misuse(&cmd_report, "processes are in no image");
	if (w->procedure && !rows_have_procedures(call->by))
		return cmd_misuse(&cmd_report, "--procedure does not go with "
				  "--by image, process or line");
	if (w->share && !rows_have_shares(call->by))
		return cmd_misuse(&cmd_report, "--min does not go with --by "
				  "edge or call-site");
	if (w->sort == SORT_CALLS && call->by != BY_PROCEDURE)
		return cmd_misuse(&cmd_report, "--sort calls goes with --by "
				  "procedure");
	return 0;
}

static int report_all(const struct report_call *call)
{
	struct rows_wish w = call->wish;
	struct told t;
	struct rows r;
	struct err e;

	w.sure = !call->json;
	if (told_open(&t, call->profile.at, call->profile.n, &e))
		return cmd_fail(&e);
	report_show_notes(&t);
	if (rows_make(&r, &t, call->by, &w, &e)) {
		told_close(&t);
		return cmd_fail(&e);
	}
	if (call->by == BY_LINE)
		report_show_lineless(&t, r.found);
	if (r.found && !r.wanted)
		cmd_note("nothing that ran is called so, or so large");
	if (call->json)
		report_show_json(&r, stdout);
	else
		report_show_text(&r, stdout);
	rows_free(&r);
	told_close(&t);
	return STATUS_OK;
}

/* what samples can be listed by; -1: not by that */
static int sampled_by(const struct report_call *call)
{
	static const int by[] = {
		[BY_IMAGE] = SAMPLED_IMAGE, [BY_PROCEDURE] = SAMPLED_PROCEDURE,
		[BY_PROCESS] = SAMPLED_PROCESS, [BY_EDGE] = -1,
		[BY_BLOCK] = -1, [BY_INSTRUCTION] = SAMPLED_INSTRUCTION,
		[BY_CALL_SITE] = -1, [BY_LINE] = SAMPLED_LINE,
	};

	return call->by_sampled >= 0 ? call->by_sampled : by[call->by];
}

/* the same as report_all() for databases */
static int report_databases(const struct report_call *call)
{
	struct sampled_wish w = {.image = call->wish.image,
				 .procedure = call->wish.procedure};
	int by = sampled_by(call);
	struct sampled_rows r;
	struct sampled s;
	struct err e;

	if (by < 0)
		return cmd_misuse(&cmd_report, "samples are not counted by "
				  "edge, block or call-site");
	if (call->wish.all || call->wish.reverse ||
	    call->wish.sort > SORT_COUNT)
		return cmd_misuse(&cmd_report, "--all, --sort and --reverse "
				  "are for profiles, not for databases");
	w.by = (enum sampled_by)by;
	if (sampled_open(&s, call->profile.at, call->profile.n, &call->of.pick,
			 &e))
		return cmd_fail(&e);
	sampled_rows_make(&r, &s, &w);
	sampled_rows_pick(&r, &s, call->wish.share);
	if (call->json)
		sampled_show_json(&s, &r, w.by, call->wish.limit, stdout);
	else
		sampled_show_text(&s, &r, w.by, call->wish.limit, stdout);
	sampled_show_notes(&s);
	sampled_rows_free(&r);
	sampled_close(&s);
	return STATUS_OK;
}

static int report_run(int argc, char **argv)
{
	struct report_call call = {.by = BY_PROCEDURE, .wish.limit = SIZE_MAX,
				   .by_sampled = -1};
	int status = option_each(argc, argv, report_word, &call);
	bool databases = false;

	if (!status)
		status = report_check(&call);
	if (!status)
		status = sampled_sources(&cmd_report, call.profile.at,
					 call.profile.n, &call.of, &databases);
	if (!status && !databases && call.by_sampled >= 0)
		status = cmd_misuse(&cmd_report, "--by event and epoch are "
				    "for databases");
	if (!status)
		status = databases ? report_databases(&call) :
				     report_all(&call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "how often the parts of a program ran",
	.usage = report_usage,
	.run = report_run,
};
