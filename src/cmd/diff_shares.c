/*
 * diff_shares: what changed between two databases of samples, or epochs of
 * one, for people and programs.
 */
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/diff_show.h"
#include "cmd/figures.h"
#include "base/name.h"
#include "cmd/report_show.h"
#include "cmd/table.h"
#include "report/share_change.h"

static const char *const side_name[2] = {"before", "after"};

/* samples, runs and where they come from */
static void print_side(const struct style *s, const struct diff_shares *x,
		       const struct noise *n, int side)
{
	char count[FIGURE_WIDTH];

	fprintf(s->to, "%s%-6s%s  %s samples in %" PRIu32 " epoch%s  ", s->dim,
		side_name[side], s->off, figures_number(n->total[side], count),
		n->runs[side], n->runs[side] > 1 ? "s" : "");
	fputs(s->head, s->to);
	name_print(s->to, x->source[side], "");
	fprintf(s->to, "%s\n", s->off);
}

static void print_noise(const struct style *s, const struct share_changes *c)
{
	const struct noise *n = &c->noise;

	fprintf(s->to, "%snoise %s ", s->dim, s->off);
	if (n->source == NOISE_UNKNOWN)
		fputs("between runs is not known; only that of sampling",
		      s->to);
	else
		fprintf(s->to, "shares vary by %.2f%% of themselves from run "
			"to run, as %s", 100 * sqrt(n->relative),
			n->source == NOISE_OF_RUNS ? "epochs tell" :
			"most differences tell");
	fputs(", samples of ", s->to);
	name_print(s->to, c->runs->metric.name, "");
	putc('\n', s->to);
	if (n->source != NOISE_OF_RUNS)
		fprintf(s->to, "%s       one epoch on each side does not tell "
			"which things vary: marks may be noise.\n"
			"       Three or more on each side do (--epoch 1-4)"
			"%s\n", s->dim,
			s->off);
}

/* share and interval in points of percent */
static void points_cell(struct table *t, double share, bool sign)
{
	char text[48];

	snprintf(text, sizeof text, sign ? "%+.3f" : "%.3f", 100 * share);
	table_text(t, text);
}

/* the columns that say what a row is about; how many */
static unsigned place_columns(struct table_column *c, enum by by)
{
	unsigned n = 0;

	if (by == BY_INSTRUCTION)
		c[n++] = (struct table_column){"address", TABLE_NUMBER};
	c[n++] = (struct table_column){
		"image", by == BY_IMAGE ? TABLE_NAME : TABLE_DIM};
	if (by != BY_IMAGE)
		c[n++] = (struct table_column){
			by == BY_LINE ? "line" : "procedure", TABLE_NAME};
	return n;
}

static void name_cells(struct table *t, const struct run_place *x,
		       enum by by)
{
	char *line = mem_alloc(strlen(x->name) + 16);

	if (by == BY_INSTRUCTION)
		table_address(t, true, x->address);
	table_text(t, x->image);
	if (x->line)
		sprintf(line, "%s:%" PRIu32, x->name, x->line);
	else
		strcpy(line, x->name);
	if (by != BY_IMAGE)
		table_text(t, line);
	mem_free(line);
}

static void text_row(struct table *t, const struct share_changes *c,
		     uint32_t place, enum by by)
{
	const struct significance_row *x = &c->row[place];

	table_text(t, x->significant ? "*" : "");
	points_cell(t, x->difference, true);
	points_cell(t, x->low, true);
	points_cell(t, x->high, true);
	for (int i = 0; i < 2; i++)
		points_cell(t, x->share[i], false);
	for (int i = 0; i < 2; i++)
		table_number(t, true, x->count[i]);
	name_cells(t, &c->runs->place.at[place], by);
	table_end_row(t, !x->significant ? LOOK_PLAIN :
			 x->difference > 0 ? LOOK_HOT : LOOK_GOOD);
}

static void show_text(const struct diff_shares *x,
		      const struct share_changes *c, FILE *to)
{
	static const struct table_column first[] = {
		{"", TABLE_WORD}, {"change", TABLE_NUMBER},
		{"from", TABLE_NUMBER}, {"to", TABLE_NUMBER},
		{"% before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
		{"samples before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	};
	struct table_column column[12];
	struct style s = style_for(to);
	unsigned n = sizeof first / sizeof *first;
	struct table t;

	for (int i = 0; i < 2; i++)
		print_side(&s, x, &c->noise, i);
	print_noise(&s, c);
	if (!c->order.n) {
		fputs("nothing changed by more than noise\n", to);
		return;
	}
	putc('\n', to);
	memcpy(column, first, sizeof first);
	n += place_columns(column + n, x->by);
	table_begin(&t, column, n, to);
	for (size_t i = 0; i < c->order.n && i < x->limit; i++)
		text_row(&t, c, c->order.at[i], x->by);
	table_print(&t);
}

static void json_side(struct json *j, const struct diff_shares *x,
		      const struct noise *n, int side)
{
	json_object(j, side_name[side]);
	json_string(j, "database", x->source[side]);
	json_number(j, "samples", n->total[side]);
	json_number(j, "epochs", n->runs[side]);
	json_end(j);
}

static void json_row(struct json *j, const struct share_changes *c,
		     uint32_t place, enum by by)
{
	const struct run_place *what = &c->runs->place.at[place];
	const struct significance_row *x = &c->row[place];

	json_object(j, NULL);
	json_string(j, "image", what->image);
	if (what->line) {
		json_string(j, "file", what->name);
		json_number(j, "line", what->line);
	} else if (by != BY_IMAGE) {
		json_string(j, "procedure", what->name);
	}
	if (by == BY_INSTRUCTION)
		json_address(j, "address", what->address);
	json_number(j, "before", x->count[0]);
	json_number(j, "after", x->count[1]);
	json_real(j, "percent_before", 100 * x->share[0]);
	json_real(j, "percent_after", 100 * x->share[1]);
	json_real(j, "change", 100 * x->difference);
	json_real(j, "low", 100 * x->low);
	json_real(j, "high", 100 * x->high);
	if (x->judged)
		json_real(j, "p", x->p);
	else
		json_null(j, "p");
	json_bool(j, "significant", x->significant);
	json_end(j);
}

static void show_json(const struct diff_shares *x,
		      const struct share_changes *c, FILE *to)
{
	static const char *const source[] = {
		[NOISE_OF_RUNS] = "epochs", [NOISE_OF_MOST] = "most",
		[NOISE_UNKNOWN] = "unknown",
	};
	struct json j = {.to = to};

	json_object(&j, NULL);
	for (int i = 0; i < 2; i++)
		json_side(&j, x, &c->noise, i);
	json_string(&j, "event", c->runs->metric.name);
	json_object(&j, "noise");
	json_string(&j, "source", source[c->noise.source]);
	json_real(&j, "percent", 100 * sqrt(c->noise.relative));
	json_real(&j, "false_discovery_percent", 100 * c->noise.rate);
	json_number(&j, "judged", c->noise.judged);
	json_end(&j);
	json_bool(&j, "differ", share_changes_any(c));
	json_array(&j, "rows");
	for (size_t i = 0; i < c->order.n && i < x->limit; i++)
		json_row(&j, c, c->order.at[i], x->by);
	json_end(&j);
	json_end(&j);
}

/* both sides, one behind the other; *before: how many runs the first has */
static int read_sides(const struct diff_shares *x, struct samples *s,
		      struct runs *r, uint32_t *before, struct err *e)
{
	for (int i = 0; i < 2; i++) {
		struct samples_epochs l;
		size_t had = r->run.n;
		int result;

		if (samples_epochs_read(&l, &x->source[i], 1, &x->pick[i], e))
			return -1;
		result = runs_read(r, s, &l, false, &x->pick[i], &x->wish, e);
		samples_epochs_free(&l);
		if (result)
			return -1;
		if (r->run.n == had)
			return err_set(e, ERR_INPUT, "%s: no samples %s%s%s"
				       "are there", x->source[i],
				       had ? "of " : "",
				       had ? r->metric.name : "",
				       had ? " " : "");
		if (!i)
			*before = (uint32_t)r->run.n;
	}
	runs_sort(r);
	return 0;
}

static int show(const struct diff_shares *x, const struct runs *r,
		uint32_t before)
{
	struct share_changes c;
	int status;

	share_changes_make(&c, r, before, x->rate);
	share_changes_pick(&c, x->all, x->share);
	status = share_changes_any(&c) ? STATUS_NO : STATUS_OK;
	if (x->json)
		show_json(x, &c, stdout);
	else
		show_text(x, &c, stdout);
	share_changes_free(&c);
	return status;
}

int diff_shares_show(const struct diff_shares *x)
{
	struct samples s = {0};
	struct runs r = {.by = x->by};
	uint32_t before = 0;
	struct err e;
	int status;

	if (read_sides(x, &s, &r, &before, &e)) {
		status = cmd_fail(&e);
	} else if (!r.place.n) {
		err_set(&e, ERR_INPUT, "%s and %s: nothing in them is called "
			"so", x->source[0], x->source[1]);
		status = cmd_fail(&e);
	} else {
		status = show(x, &r, before);
		report_show_sample_notes(&s);
		report_show_one_event(&r);
	}
	runs_free(&r);
	samples_close(&s);
	return status;
}
