/*
 * stats: `tally stats [--by ...] PROFILE PROFILE...`, what differs from run to
 * run; of databases of samples as well.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/report_show.h"
#include "cmd/sampled_show.h"
#include "cmd/shared_options.h"
#include "cmd/table.h"
#include "report/variation.h"

struct stats_call {
	struct word_list profile;
	enum by by;
	size_t limit;
	double share; /* least one that is shown */
	struct sampled_pick pick;
	bool json;
};

static const struct option_choice bys[] = {
	{"procedure", BY_PROCEDURE, NULL, NULL},
	{"image", BY_IMAGE, NULL, NULL},
	{"line", BY_LINE, NULL, NULL},
	{0},
};

static const struct option stats_options[] = {
	{"by", .type = &type_choice, .choices = bys,
	 FILLS(struct stats_call, by),
	 .help = "what to list; procedures by default; lines need debug "
		 "information"},
	{0},
};

static bool is_shown(const struct stats_call *call, const struct variation *v,
		     const struct varied *x)
{
	return (double)x->sum >= call->share * (double)v->sum;
}

/* of epochs which one it is; of databases that are runs, the directory */
static void json_set(struct json *j, const struct stats_call *call,
		     const struct sampled_epoch *x)
{
	json_string(j, "database", x->database);
	if (call->profile.n > 1)
		return;
	json_string(j, "host", x->host);
	json_number(j, "epoch", (uint64_t)x->number);
	json_number(j, "start", x->start);
	json_number(j, "end", x->end);
	json_string(j, "command", x->command);
}

static void json_runs(struct json *j, const struct stats_call *call,
		      const struct variation *v, const struct sampled_runs *r)
{
	json_array(j, "runs");
	for (size_t i = 0; i < v->run.n; i++) {
		json_object(j, NULL);
		if (r) {
			json_set(j, call, &r->first.at[i]);
			json_number(j, "samples", v->run.at[i].instructions);
		} else {
			json_string(j, "profile", call->profile.at[i]);
			json_number(j, "instructions",
				    v->run.at[i].instructions);
			json_bool(j, "complete", v->run.at[i].complete);
		}
		json_end(j);
	}
	json_end(j);
}

static void json_row(struct json *j, const struct varied *x, enum by by)
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
		      const struct variation *v, const struct sampled_runs *r)
{
	struct json j = {.to = stdout};
	size_t n = 0;

	json_object(&j, NULL);
	if (r)
		json_string(&j, "event", r->event);
	json_runs(&j, call, v, r);
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
		      enum by by)
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
		     const struct varied *x, enum by by)
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

/* how many samples each run has, and all together */
static void print_sets(const struct stats_call *call,
		       const struct variation *v, const struct sampled_runs *r)
{
	struct style s = style_for(stdout);
	char n[FIGURE_WIDTH];

	for (size_t i = 0; i < v->run.n; i++) {
		const struct sampled_epoch *x = &r->first.at[i];

		printf("%srun %zu%s  %s samples  ", s.dim, i + 1, s.off,
		       figures_number(v->run.at[i].instructions, n));
		name_print(stdout, x->database, "");
		if (call->profile.n == 1) {
			printf("  %sepoch %" PRId64 "  ", s.dim, x->number);
			name_print(stdout, x->host, "");
			fputs("  ", stdout);
			name_print(stdout, x->command, "");
			fputs(s.off, stdout);
		}
		putchar('\n');
	}
	printf("%sall%s  %s samples of ", s.dim, s.off,
	       figures_number(v->sum, n));
	name_print(stdout, r->event, "");
	fputs("\n\n", stdout);
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

static int stats_profiles(const struct stats_call *call)
{
	struct variation v = {.by = call->by};
	struct err e;
	int status = stats_read(call, &v, &e);

	if (status)
		status = cmd_fail(&e);
	else if (call->json)
		show_json(call, &v, NULL);
	else
		show_text(call, &v);
	variation_free(&v);
	return status;
}

/* all runs of databases; -1 and *e */
static int stats_read_samples(const struct stats_call *call,
			      struct sampled *s, struct sampled_runs *r,
			      struct err *e)
{
	struct sampled_wish w = {
		.by = call->by == BY_IMAGE ? SAMPLED_IMAGE :
		      call->by == BY_LINE ? SAMPLED_LINE : SAMPLED_PROCEDURE};
	struct sampled_epochs l;
	int result;

	if (sampled_epochs_read(&l, call->profile.at, call->profile.n,
				&call->pick, e))
		return -1;
	result = sampled_runs_read(r, s, &l, call->profile.n > 1,
				   &call->pick, &w, e);
	sampled_epochs_free(&l);
	if (!result && r->total.n < 2)
		return err_set(e, ERR_INPUT, "%s: only %zu run%s; it takes "
			       "two or more to compare them",
			       call->profile.at[0], r->total.n,
			       r->total.n == 1 ? " has samples" :
						 "s have samples");
	return result;
}

static int stats_databases(const struct stats_call *call)
{
	struct variation v = {.by = call->by};
	struct sampled s = {0};
	struct sampled_runs r = {0};
	struct err e;
	int status = STATUS_OK;

	if (stats_read_samples(call, &s, &r, &e)) {
		status = cmd_fail(&e);
	} else {
		sampled_runs_sort(&r);
		variation_of_samples(&v, &r);
		variation_sort(&v);
		if (call->json)
			show_json(call, &v, &r);
		else
			print_sets(call, &v, &r);
		if (!call->json)
			show_text(call, &v);
		report_show_sample_notes(&s);
		sampled_show_one_event(&r);
	}
	variation_free(&v);
	sampled_runs_free(&r);
	sampled_close(&s);
	return status;
}

static int stats_run(void *words, const struct arguments *a)
{
	struct stats_call *call = words;
	bool databases;
	int status = sources_check(&cmd_stats, a, 0, &databases);

	call->profile = a->operand;
	if (!status && !databases && call->profile.n < 2)
		status = cmd_misuse(&cmd_stats, "it takes two or more "
				    "PROFILEs, or a DB");
	if (status)
		return status;
	return databases ? stats_databases(call) : stats_profiles(call);
}

const struct command cmd_stats = {
	.name = "stats",
	.summary = "what varies from run to run",
	.usage = "[OPTION...] PROFILE PROFILE...\n"
		 "[OPTION...] DB...",
	.about = "Compares many runs of a program: of each procedure the least "
		 "and most instructions that it executed in a run, mean and "
		 "deviation. What varies most comes first, by normalized "
		 "range: most less least, as a share of the sum.\n"
		 "Of a database of samples each epoch is a run, of several "
		 "each is one; the counts are samples.",
	.closing = "Runs may have been counted in different ways, also of "
		   "different builds. `runs` are those in which something was "
		   "there and its count is known.",
	.operands = (const struct operand[]){
		{"PROFILE or DB", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(stats_options),
		OPTIONS_AT(min_option, struct stats_call, share),
		OPTIONS_AT(limit_option, struct stats_call, limit),
		OPTIONS_AT(json_option, struct stats_call, json),
		OPTIONS(help_option),
		DATABASE_OPTIONS(struct stats_call, pick), {0}},
	.defaults = &(const struct stats_call){.by = BY_PROCEDURE,
					       .limit = SIZE_MAX},
	.size = sizeof(struct stats_call),
	.run = stats_run,
};
