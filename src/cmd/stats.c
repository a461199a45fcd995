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
#include "cmd/render/cells.h"
#include "cmd/sources.h"
#include "report/variance.h"

struct stats_call {
	struct word_list profile, database;
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

/* what varies: counts of profiles, samples of databases, or both */
enum { COUNTS, SAMPLES, KINDS };

/* a place with what it has of each kind, or NULL */
struct stats_row {
	const struct varied *of[KINDS];
};

struct stats {
	struct runs runs[KINDS];
	struct variance v[KINDS];
	bool has[KINDS];
	/* as counts vary, then those that have samples alone */
	VEC(struct stats_row) row;
};

static bool is_shown(const struct stats_call *call, const struct stats *s,
		     const struct stats_row *row)
{
	for (int k = 0; k < KINDS; k++)
		if (row->of[k] && (double)row->of[k]->sum >=
					  call->share * (double)s->runs[k].sum)
			return true;
	return false;
}

static const struct run_place *place_of(const struct stats_row *row)
{
	return row->of[COUNTS] ? row->of[COUNTS]->place :
				 row->of[SAMPLES]->place;
}

/* the place of counts that one of samples is, or NULL */
static const struct run_place *counterpart(struct stats *s,
					   const struct run_place *p)
{
	const struct runs *r = &s->runs[SAMPLES];
	const char *key = r->key.string.at[p - r->place.at];
	struct runs *counts = &s->runs[COUNTS];

	return intern_has(&counts->key, key) ?
		       &counts->place.at[intern(&counts->key, key)] : NULL;
}

static void join(struct stats *s)
{
	const struct runs *counts = &s->runs[COUNTS];
	/* by place of counts: the row, from 1 */
	uint32_t *row = NEW_ARRAY(uint32_t, counts->place.n + 1);

	for (size_t i = 0; i < s->v[COUNTS].v.n; i++) {
		struct stats_row new = {{&s->v[COUNTS].v.at[i], NULL}};

		vec_push(&s->row, new);
		row[new.of[COUNTS]->place - counts->place.at] =
			(uint32_t)s->row.n;
	}
	for (size_t i = 0; i < s->v[SAMPLES].v.n; i++) {
		struct stats_row new = {{NULL, &s->v[SAMPLES].v.at[i]}};
		const struct run_place *p =
			counterpart(s, new.of[SAMPLES]->place);
		uint32_t n = p ? row[p - counts->place.at] : 0;

		if (n)
			s->row.at[n - 1].of[SAMPLES] = new.of[SAMPLES];
		else
			vec_push(&s->row, new);
	}
	mem_free(row);
}

/* of epochs which one it is; of databases that are runs, the directory */
static void json_set(struct json *j, const struct stats_call *call,
		     const struct samples_epoch *x)
{
	json_string(j, "database", x->database);
	if (call->database.n > 1)
		return;
	json_string(j, "host", x->host);
	json_number(j, "epoch", (uint64_t)x->number);
	json_number(j, "start", x->start);
	json_number(j, "end", x->end);
	json_string(j, "command", x->command);
}

static void json_runs(struct json *j, const struct stats_call *call,
		      const struct stats *s)
{
	json_array(j, "runs");
	for (size_t i = 0; i < s->runs[COUNTS].run.n; i++) {
		const struct run_of *x = &s->runs[COUNTS].run.at[i];

		json_object(j, NULL);
		json_string(j, "profile", call->profile.at[i]);
		json_number(j, "instructions", x->total);
		json_bool(j, "complete", x->complete);
		json_end(j);
	}
	for (size_t i = 0; i < s->runs[SAMPLES].run.n; i++) {
		const struct run_of *x = &s->runs[SAMPLES].run.at[i];

		json_object(j, NULL);
		json_set(j, call, &x->first);
		json_number(j, "samples", x->total);
		json_end(j);
	}
	json_end(j);
}

static void json_varied(struct json *j, const struct varied *x)
{
	json_real(j, "range", varied_range(x));
	json_number(j, "min", x->min);
	json_number(j, "max", x->max);
	json_real(j, "mean", x->mean);
	json_real(j, "deviation", varied_deviation(x));
	json_number(j, "sum", x->sum);
	json_number(j, "runs", x->runs);
	json_number(j, "unknown", x->unknown);
}

/* samples beside counts are an object of their own */
static void json_row(struct json *j, const struct stats *s,
		     const struct stats_row *row, enum by by)
{
	const struct run_place *p = place_of(row);

	json_object(j, NULL);
	json_string(j, "image", p->image);
	if (by == BY_PROCEDURE)
		json_string(j, "procedure", p->name);
	if (by == BY_LINE) {
		json_string(j, "file", p->name);
		json_number(j, "line", p->line);
	}
	if (row->of[COUNTS])
		json_varied(j, row->of[COUNTS]);
	if (row->of[SAMPLES] && s->has[COUNTS])
		json_object(j, "samples");
	if (row->of[SAMPLES])
		json_varied(j, row->of[SAMPLES]);
	if (row->of[SAMPLES] && s->has[COUNTS])
		json_end(j);
	json_end(j);
}

static void show_json(const struct stats_call *call, const struct stats *s)
{
	struct json j = {.to = stdout};
	size_t n = 0;

	json_object(&j, NULL);
	if (s->has[SAMPLES])
		json_string(&j, "event", s->runs[SAMPLES].metric.name);
	json_runs(&j, call, s);
	json_array(&j, "rows");
	for (size_t i = 0; i < s->row.n && n < call->limit; i++)
		if (is_shown(call, s, &s->row.at[i])) {
			json_row(&j, s, &s->row.at[i], call->by);
			n++;
		}
	json_end(&j);
	json_end(&j);
}

static const struct table_column columns[] = {
	{"range", TABLE_NUMBER}, {"min", TABLE_NUMBER},
	{"max", TABLE_NUMBER}, {"mean", TABLE_NUMBER},
	{"deviation", TABLE_NUMBER}, {"sum", TABLE_NUMBER},
	{"%", TABLE_NUMBER}, {"runs", TABLE_NUMBER},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static void varied_cells(struct table *t, const struct varied *x,
			 uint64_t sum)
{
	if (!x) {
		for (int i = 0; i < COLUMNS; i++)
			table_text(t, "");
		return;
	}
	table_real(t, 100 * varied_range(x), "%");
	table_number(t, true, x->min);
	table_number(t, true, x->max);
	table_real(t, x->mean, "");
	table_real(t, varied_deviation(x), "");
	table_number(t, true, x->sum);
	table_share(t, true, x->sum, sum);
	table_number(t, true, x->runs);
}

static void text_row(struct table *t, const struct stats *s,
		     const struct stats_row *row, enum by by)
{
	const struct run_place *p = place_of(row);
	bool unknown = false;

	for (int k = 0; k < KINDS; k++) {
		if (s->has[k])
			varied_cells(t, row->of[k], s->runs[k].sum);
		unknown |= row->of[k] && row->of[k]->unknown;
	}
	table_text(t, p->image);
	if (by != BY_IMAGE)
		line_cell(t, p->name, by == BY_LINE, p->line);
	table_end_row(t, unknown ? LOOK_UNKNOWN : LOOK_PLAIN);
}

/* all that ran together, as if it were one thing */
static void total_row(struct table *t, const struct stats *s, enum by by)
{
	bool image = by == BY_IMAGE;
	struct run_place place = {.image = image ? "all" : "", .name = "all"};
	struct varied all[KINDS] = {{.place = &place}, {.place = &place}};
	struct stats_row row = {{NULL, NULL}};

	for (int k = 0; k < KINDS; k++) {
		const struct runs *r = &s->runs[k];

		for (size_t i = 0; i < r->run.n; i++) {
			varied_put(&all[k], r->run.at[i].total);
			all[k].unknown += !r->run.at[i].complete;
		}
		row.of[k] = s->has[k] ? &all[k] : NULL;
	}
	text_row(t, s, &row, image ? BY_IMAGE : BY_PROCEDURE);
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
		if (call->database.n == 1) {
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

static void show_text(const struct stats_call *call, const struct stats *s)
{
	struct columns c = {0};
	struct table t;
	size_t n = 0;

	for (int k = 0; k < KINDS; k++)
		for (int i = 0; s->has[k] && i < COLUMNS; i++)
			columns_put(&c, k && !i && s->has[COUNTS] ?
						"range of samples" :
						columns[i].head,
				    columns[i].kind);
	columns_put(&c, "image", TABLE_DIM);
	if (call->by != BY_IMAGE)
		columns_put(&c, call->by == BY_LINE ? "line" : "procedure",
			    TABLE_NAME);
	table_begin(&t, c.v, c.n, stdout);
	total_row(&t, s, call->by);
	for (size_t i = 0; i < s->row.n && n < call->limit; i++)
		if (is_shown(call, s, &s->row.at[i])) {
			text_row(&t, s, &s->row.at[i], call->by);
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

	if (sources_open(&d, &call->profile.at[i], 1, NULL, e))
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

	if (samples_epochs_read(&l, call->database.at, call->database.n,
				&call->pick, e))
		return -1;
	result = runs_read(r, s, &l, call->database.n > 1, &call->pick, &all,
			   e);
	samples_epochs_free(&l);
	if (!result && r->run.n < 2)
		return err_set(e, ERR_INPUT, "%s: only %zu run%s; it takes "
			       "two or more to compare them",
			       call->database.at[0], r->run.n,
			       r->run.n == 1 ? " has samples" :
					       "s have samples");
	return result;
}

static void show(const struct stats_call *call, const struct stats *s)
{
	if (call->json) {
		show_json(call, s);
		return;
	}
	if (s->has[SAMPLES])
		print_sets(call, &s->runs[SAMPLES]);
	show_text(call, s);
}

static int stats_show(const struct stats_call *call)
{
	struct stats x = {.has = {call->profile.n, call->database.n}};
	struct samples s = {0};
	struct err e;
	int status = STATUS_OK;

	x.runs[COUNTS].by = x.runs[SAMPLES].by = call->by;
	if ((x.has[COUNTS] && read_profiles(call, &x.runs[COUNTS], &e)) ||
	    (x.has[SAMPLES] &&
	     read_databases(call, &s, &x.runs[SAMPLES], &e))) {
		status = cmd_fail(&e);
	} else {
		for (int k = 0; k < KINDS; k++) {
			runs_sort(&x.runs[k]);
			variance_make(&x.v[k], &x.runs[k]);
		}
		join(&x);
		show(call, &x);
		report_show_sample_notes(&s);
		report_show_one_event(&x.runs[SAMPLES]);
	}
	for (int k = 0; k < KINDS; k++) {
		variance_free(&x.v[k]);
		runs_free(&x.runs[k]);
	}
	vec_free(&x.row);
	samples_close(&s);
	return status;
}

static int stats_run(void *words, const struct arguments *a)
{
	struct stats_call *call = words;
	int status = sources_fit(&cmd_stats, a, 0);

	for (size_t i = 0; i < a->operand.n; i++)
		if (store_is(a->operand.at[i]))
			vec_push(&call->database, a->operand.at[i]);
		else
			vec_push(&call->profile, a->operand.at[i]);
	if (!status && (call->database.n ? call->profile.n == 1 :
					   call->profile.n < 2))
		status = cmd_misuse(&cmd_stats, "it takes two or more "
				    "PROFILEs, or a DB");
	if (!status)
		status = stats_show(call);
	vec_free(&call->database);
	vec_free(&call->profile);
	return status;
}

const struct command cmd_stats = {
	.name = "stats",
	.summary = "what varies from run to run",
	.usage = "[OPTION...] PROFILE PROFILE... [DB...]\n"
		 "[OPTION...] DB...",
	.about = "Compares many runs of a program: of each procedure the least "
		 "and most instructions that it executed in a run, mean and "
		 "deviation. What varies most comes first, by normalized "
		 "range: most less least, as a share of the sum.\n"
		 "Of a database of samples each epoch is a run, of several "
		 "each is one; the counts are samples. Given both it shows "
		 "how both vary, side by side.",
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
