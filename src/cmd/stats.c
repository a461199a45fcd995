/*
 * stats: `tally stats [--by ...] PROFILE PROFILE...`, what differs from run to
 * run; of databases of samples as well.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cmd/render/figures.h"
#include "base/name.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/table.h"
#include "report/variance.h"

struct stats_call {
	struct word_list profile;
	enum by by;
	size_t limit;
	double share; /* least one that is shown */
	struct samples_query pick;
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

static bool is_shown(const struct stats_call *call, const struct variance *v,
		     const struct varied *x)
{
	return (double)x->sum >= call->share * (double)v->runs->sum;
}

static bool is_sampled(const struct variance *v)
{
	return v->runs->metric.evidence == EVIDENCE_SAMPLED;
}

/* of epochs which one it is; of databases that are runs, the directory */
static void json_set(struct json *j, const struct stats_call *call,
		     const struct samples_epoch *x)
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
		      const struct variance *v)
{
	json_array(j, "runs");
	for (size_t i = 0; i < v->runs->run.n; i++) {
		const struct run_of *x = &v->runs->run.at[i];

		json_object(j, NULL);
		if (is_sampled(v)) {
			json_set(j, call, &x->first);
			json_number(j, "samples", x->total);
		} else {
			json_string(j, "profile", call->profile.at[i]);
			json_number(j, "instructions", x->total);
			json_bool(j, "complete", x->complete);
		}
		json_end(j);
	}
	json_end(j);
}

static void json_row(struct json *j, const struct varied *x, enum by by)
{
	json_object(j, NULL);
	json_string(j, "image", x->place->image);
	if (by == BY_PROCEDURE)
		json_string(j, "procedure", x->place->name);
	if (by == BY_LINE) {
		json_string(j, "file", x->place->name);
		json_number(j, "line", x->place->line);
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

static void show_json(const struct stats_call *call, const struct variance *v)
{
	struct json j = {.to = stdout};
	size_t n = 0;

	json_object(&j, NULL);
	if (is_sampled(v))
		json_string(&j, "event", v->runs->metric.name);
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

static void name_cell(struct table *t, const struct run_place *x, enum by by)
{
	char *text = mem_alloc(strlen(x->name) + 16);

	if (by == BY_LINE)
		sprintf(text, "%s:%" PRIu32, x->name, x->line);
	else
		strcpy(text, x->name);
	table_text(t, text);
	mem_free(text);
}

static void text_row(struct table *t, const struct variance *v,
		     const struct varied *x, enum by by)
{
	table_real(t, 100 * varied_range(x), "%");
	table_number(t, true, x->min);
	table_number(t, true, x->max);
	table_real(t, x->mean, "");
	table_real(t, varied_deviation(x), "");
	table_number(t, true, x->sum);
	table_share(t, true, x->sum, v->runs->sum);
	table_number(t, true, x->runs);
	table_text(t, x->place->image);
	if (by != BY_IMAGE)
		name_cell(t, x->place, by);
	table_end_row(t, x->unknown ? LOOK_UNKNOWN : LOOK_PLAIN);
}

/* all that ran together, as if it were one thing */
static void total_row(struct table *t, const struct variance *v)
{
	bool image = v->runs->by == BY_IMAGE;
	struct run_place place = {.image = image ? "all" : "", .name = "all"};
	struct varied all = {.place = &place};

	for (size_t i = 0; i < v->runs->run.n; i++) {
		varied_put(&all, v->runs->run.at[i].total);
		all.unknown += !v->runs->run.at[i].complete;
	}
	text_row(t, v, &all, image ? BY_IMAGE : BY_PROCEDURE);
}

/* how many samples each run has, and all together */
static void print_sets(const struct stats_call *call, const struct runs *r)
{
	struct style s = style_for(stdout);
	char n[FIGURE_WIDTH];

	for (size_t i = 0; i < r->run.n; i++) {
		const struct samples_epoch *x = &r->run.at[i].first;

		printf("%srun %zu%s  %s samples  ", s.dim, i + 1, s.off,
		       figures_number(r->run.at[i].total, n));
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
	       figures_number(r->sum, n));
	name_print(stdout, r->metric.name, "");
	fputs("\n\n", stdout);
}

static void show_text(const struct stats_call *call, const struct variance *v)
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

/* how many places were in a run before the last one; each has a key */
static bool has_common(const struct runs *r, size_t had)
{
	for (size_t i = 0; i < had; i++)
		if (r->place.at[i].last == r->run.n)
			return true;
	return !had;
}

/* one run at a time: there may be hundreds */
static int read_profile(const struct stats_call *call, size_t i,
			struct runs *r, struct err *e)
{
	const struct rows_query all = {0};
	size_t had = r->place.n;
	struct dataset d;
	int status;

	if (dataset_open(&d, &call->profile.at[i], 1, NULL, e))
		return -1;
	report_show_notes(d.counts);
	status = runs_add(r, &d, &all, NULL, e);
	dataset_close(&d);
	if (!status && i && !has_common(r, had))
		return err_set(e, ERR_INPUT, "%s and %s have nothing in "
			       "common", call->profile.at[0],
			       call->profile.at[i]);
	return status;
}

static int read_profiles(const struct stats_call *call, struct runs *r,
			 struct err *e)
{
	for (size_t i = 0; i < call->profile.n; i++)
		if (read_profile(call, i, r, e))
			return -1;
	return 0;
}

/* all runs of databases; -1 and *e */
static int read_databases(const struct stats_call *call, struct samples *s,
			  struct runs *r, struct err *e)
{
	const struct rows_query all = {0};
	struct samples_epochs l;
	int result;

	if (samples_epochs_read(&l, call->profile.at, call->profile.n,
				&call->pick, e))
		return -1;
	result = runs_read(r, s, &l, call->profile.n > 1, &call->pick, &all,
			   e);
	samples_epochs_free(&l);
	if (!result && r->run.n < 2)
		return err_set(e, ERR_INPUT, "%s: only %zu run%s; it takes "
			       "two or more to compare them",
			       call->profile.at[0], r->run.n,
			       r->run.n == 1 ? " has samples" :
					       "s have samples");
	return result;
}

static void show(const struct stats_call *call, const struct variance *v)
{
	if (call->json) {
		show_json(call, v);
		return;
	}
	if (is_sampled(v))
		print_sets(call, v->runs);
	show_text(call, v);
}

static int stats_show(const struct stats_call *call, bool databases)
{
	struct runs r = {.by = call->by};
	struct samples s = {0};
	struct variance v;
	struct err e;
	int status = STATUS_OK;

	if (databases ? read_databases(call, &s, &r, &e) :
			read_profiles(call, &r, &e)) {
		status = cmd_fail(&e);
	} else {
		runs_sort(&r);
		variance_make(&v, &r);
		show(call, &v);
		variance_free(&v);
		report_show_sample_notes(&s);
		report_show_one_event(&r);
	}
	runs_free(&r);
	samples_close(&s);
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
	return stats_show(call, databases);
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
