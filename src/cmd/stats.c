/*
 * stats: `tally stats [--by ...] PROFILE PROFILE...`, what differs from run to
 * run.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/table.h"
#include "report/variation.h"

static const char stats_usage[] =
	"usage: tally stats [OPTION...] PROFILE PROFILE...\n"
	"\n"
	"Compares many runs of a program: of each procedure the least and\n"
	"most instructions that it executed in a run, mean and deviation.\n"
	"What varies most comes first, by normalized range: most less least,\n"
	"as a share of the sum.\n"
	"\n"
	"  --by image|procedure|line   what to list; procedure by default\n"
	"  --min PERCENT  only what executed at least that much of all\n"
	"  --limit N      only the first N\n"
	"  --json         for programs\n"
	"\n"
	"Runs may have been counted in different ways, also of different\n"
	"builds. 'runs' are those in which something was there and its count\n"
	"is known.\n";

struct stats_call {
	VEC(const char *) profile;
	enum rows_by by;
	size_t limit;
	double share; /* least one that is shown */
	bool json;
};

static int stats_by(struct stats_call *call, const char *value)
{
	if (!strcmp(value, "image"))
		call->by = BY_IMAGE;
	else if (!strcmp(value, "procedure"))
		call->by = BY_PROCEDURE;
	else if (!strcmp(value, "line"))
		call->by = BY_LINE;
	else
		return cmd_misuse(&cmd_stats, "--by image, procedure or line, "
				  "not '%s'", value);
	return 0;
}

/* reads one word; 0 or the exit status */
static int stats_word(void *to, char **argv, int *i, bool option)
{
	struct stats_call *call = to;
	const char *a = argv[*i], *value;

	if (!option) {
		vec_push(&call->profile, a);
	} else if ((value = option_value(argv, i, "--by"))) {
		return stats_by(call, value);
	} else if ((value = option_value(argv, i, "--limit"))) {
		if (!option_number(value, &call->limit))
			return cmd_misuse(&cmd_stats, "--limit takes a "
					  "number, not '%s'", value);
	} else if ((value = option_value(argv, i, "--min"))) {
		if (!option_percent(value, &call->share))
			return cmd_misuse(&cmd_stats, "--min takes a "
					  "percentage, not '%s'", value);
	} else if (!strcmp(a, "--json")) {
		call->json = true;
	} else {
		return cmd_misuse(&cmd_stats, "unknown option '%s'", a);
	}
	return 0;
}

static bool is_shown(const struct stats_call *call, const struct variation *v,
		     const struct varied *x)
{
	return (double)x->sum >= call->share * (double)v->sum;
}

static void json_runs(struct json *j, const struct stats_call *call,
		      const struct variation *v)
{
	json_array(j, "runs");
	for (size_t i = 0; i < v->run.n; i++) {
		json_object(j, NULL);
		json_string(j, "profile", call->profile.at[i]);
		json_number(j, "instructions", v->run.at[i].instructions);
		json_bool(j, "complete", v->run.at[i].complete);
		json_end(j);
	}
	json_end(j);
}

static void json_row(struct json *j, const struct varied *x, enum rows_by by)
{
	json_object(j, NULL);
	json_string(j, "image", x->image);
	if (by == BY_PROCEDURE)
		json_string(j, "procedure", x->name);
	if (by == BY_LINE) {
		json_string(j, "file", x->name);
		json_number(j, "line", x->line);
	}
	json_real(j, "range", varied_range(x));
	json_number(j, "min", x->min);
	json_number(j, "max", x->max);
	json_real(j, "mean", x->mean);
	json_real(j, "deviation", varied_deviation(x));
	json_number(j, "sum", x->sum);
	json_number(j, "runs", x->runs);
	json_number(j, "unknown", x->unknown);
	json_end(j);
}

static void show_json(const struct stats_call *call,
		      const struct variation *v)
{
	struct json j = {.to = stdout};
	size_t n = 0;

	json_object(&j, NULL);
	json_runs(&j, call, v);
	json_array(&j, "rows");
	for (size_t i = 0; i < v->v.n && n < call->limit; i++)
		if (is_shown(call, v, &v->v.at[i])) {
			json_row(&j, &v->v.at[i], call->by);
			n++;
		}
	json_end(&j);
	json_end(&j);
}

static const struct table_column columns[] = {
	{"range", TABLE_NUMBER}, {"min", TABLE_NUMBER},
	{"max", TABLE_NUMBER}, {"mean", TABLE_NUMBER},
	{"deviation", TABLE_NUMBER}, {"sum", TABLE_NUMBER},
	{"%", TABLE_NUMBER}, {"runs", TABLE_NUMBER}, {"image", TABLE_DIM},
	{"procedure", TABLE_NAME},
};

static void name_cell(struct table *t, const struct varied *x,
		      enum rows_by by)
{
	char *text = mem_alloc(strlen(x->name) + 16);

	if (by == BY_LINE)
		sprintf(text, "%s:%" PRIu32, x->name, x->line);
	else
		strcpy(text, x->name);
	table_text(t, text);
	mem_free(text);
}

static void text_row(struct table *t, const struct variation *v,
		     const struct varied *x, enum rows_by by)
{
	table_real(t, 100 * varied_range(x), "%");
	table_number(t, true, x->min);
	table_number(t, true, x->max);
	table_real(t, x->mean, "");
	table_real(t, varied_deviation(x), "");
	table_number(t, true, x->sum);
	table_share(t, true, x->sum, v->sum);
	table_number(t, true, x->runs);
	table_text(t, x->image);
	if (by != BY_IMAGE)
		name_cell(t, x, by);
	table_end_row(t, x->unknown ? LOOK_UNKNOWN : LOOK_PLAIN);
}

/* all that ran together, as if it were one thing */
static void total_row(struct table *t, const struct variation *v)
{
	bool image = v->by == BY_IMAGE;
	struct varied all = {.image = image ? "all" : "", .name = "all"};

	for (size_t i = 0; i < v->run.n; i++) {
		varied_put(&all, v->run.at[i].instructions);
		all.unknown += !v->run.at[i].complete;
	}
	text_row(t, v, &all, image ? BY_IMAGE : BY_PROCEDURE);
}

static void show_text(const struct stats_call *call,
		      const struct variation *v)
{
	struct table_column head[sizeof columns / sizeof *columns];
	unsigned last = sizeof columns / sizeof *columns - 1;
	struct table t;
	size_t n = 0;

	memcpy(head, columns, sizeof head);
	if (call->by == BY_LINE)
		head[last].head = "line";
	table_begin(&t, head, last + (call->by != BY_IMAGE), stdout);
	total_row(&t, v);
	for (size_t i = 0; i < v->v.n && n < call->limit; i++)
		if (is_shown(call, v, &v->v.at[i])) {
			text_row(&t, v, &v->v.at[i], call->by);
			n++;
		}
	table_print(&t);
}

/* one run at a time: there may be hundreds */
static int stats_read(const struct stats_call *call, struct variation *v,
		      struct err *e)
{
	for (size_t i = 0; i < call->profile.n; i++) {
		struct told t;
		int status;

		if (told_open(&t, &call->profile.at[i], 1, e))
			return -1;
		report_show_notes(&t);
		status = variation_add(v, &t, e);
		told_close(&t);
		if (status)
			return -1;
	}
	variation_sort(v);
	return 0;
}

static int stats_all(const struct stats_call *call)
{
	struct variation v = {.by = call->by};
	struct err e;
	int status = stats_read(call, &v, &e);

	if (status)
		status = cmd_fail(&e);
	else if (call->json)
		show_json(call, &v);
	else
		show_text(call, &v);
	variation_free(&v);
	return status;
}

static int stats_run(int argc, char **argv)
{
	struct stats_call call = {.by = BY_PROCEDURE, .limit = SIZE_MAX};
	int status = option_each(argc, argv, stats_word, &call);

	if (!status && call.profile.n < 2)
		status = cmd_misuse(&cmd_stats, "which PROFILEs? It takes two "
				    "or more");
	if (!status)
		status = stats_all(&call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_stats = {
	.name = "stats",
	.summary = "what varies from run to run",
	.usage = stats_usage,
	.run = stats_run,
};
