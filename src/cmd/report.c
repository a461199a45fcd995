/*
 * report: `tally report [--by ...] [--limit N] [--json] SOURCE...`, where the
 * instructions went, or the time.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/sampled_option.h"
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
	"  --same-work       counts and samples are of the same work,\n"
	"                    whatever their command lines say\n"
	"  --json            for programs\n"
	SAMPLED_OPTION_HELP
	"\n"
	"What did not run is not listed; what is not known is called "
	"unknown.\n";

struct report_call {
	VEC(const char *) profile;
	enum by by;
	struct rows_wish wish;
	bool json, same_work;
	struct sampled_option of; /* databases */
};

static int report_by(struct report_call *call, const char *value)
{
	static const char *const names[BY_KINDS] = {
		[BY_IMAGE] = "image", [BY_PROCEDURE] = "procedure",
		[BY_PROCESS] = "process", [BY_EDGE] = "edge",
		[BY_BLOCK] = "block", [BY_INSTRUCTION] = "instruction",
		[BY_CALL_SITE] = "call-site", [BY_LINE] = "line",
		[BY_EVENT] = "event", [BY_EPOCH] = "epoch",
	};

	for (int i = 0; i < BY_KINDS; i++)
		if (!strcmp(value, names[i])) {
			call->by = (enum by)i;
			return 0;
		}
	return cmd_misuse(&cmd_report, "--by image, procedure, line, process, "
			  "edge, block, instruction, call-site, event or "
			  "epoch, not '%s'", value);
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
	else if (!strcmp(a, "--same-work"))
		call->same_work = true;
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

/* what is asked for has to be in the sources; 0 or the exit status */
static int report_fits(const struct report_call *call, const struct dataset *v)
{
	if (dataset_has(v, call->by))
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

/* the exit status */
static int report_dataset(const struct report_call *call, struct dataset *v)
{
	struct rows_wish w = call->wish;
	struct rows r;
	struct err e;
	int status = report_fits(call, v);

	if (status)
		return status;
	w.sure = !call->json;
	v->same_work = call->same_work;
	report_show_dataset_notes(v);
	if (rows_make(&r, v, call->by, &w, &e))
		return cmd_fail(&e);
	report_show(call, v, &r);
	rows_free(&r);
	return STATUS_OK;
}

static int report_run(int argc, char **argv)
{
	struct report_call call = {.by = BY_PROCEDURE,
				   .wish.limit = SIZE_MAX};
	int status = option_each(argc, argv, report_word, &call);
	struct dataset v;
	struct err e;

	if (!status)
		status = report_check(&call);
	if (!status)
		status = sampled_option_check(&cmd_report, call.profile.at,
					      call.profile.n, &call.of);
	if (!status && dataset_open(&v, call.profile.at, call.profile.n,
				 &call.of.pick, &e)) {
		status = cmd_fail(&e);
	} else if (!status) {
		status = report_dataset(&call, &v);
		dataset_close(&v);
	}
	vec_free(&call.profile);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "how often the parts of a program ran",
	.usage = report_usage,
	.run = report_run,
};
