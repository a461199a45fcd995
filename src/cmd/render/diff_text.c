/*
 * diff_text: what changed, for people: columns of counts, of samples and of
 * time per execution, as far as there are such, and of places.
 */
#include <inttypes.h>
#include <math.h>

#include "base/name.h"
#include "cmd/render/diff_show.h"
#include "cmd/render/figures.h"
#include "cmd/render/cells.h"
#include "report/walk.h"

/* --- counts */

static void count_cell(struct table *t, const struct side_count *c)
{
	if (c->there)
		table_number(t, c->known, c->n);
	else
		table_text(t, "-");
}

/* how much more or less it is than before */
static void percent_cell(struct table *t, const struct change *x)
{
	char text[48] = "";

	if (x->before.known && x->after.known && x->before.n &&
	    x->before.n != x->after.n)
		snprintf(text, sizeof text, "%+.1f%%",
			 100.0 * ((double)x->after.n - (double)x->before.n) /
				 (double)x->before.n);
	table_text(t, text);
}

static void count_cells(struct table *t, const struct change *x)
{
	if (!x) {
		for (int i = 0; i < 4; i++)
			table_text(t, "");
		return;
	}
	table_change(t, change_known(x), x->before.n, x->after.n);
	percent_cell(t, x);
	count_cell(t, &x->before);
	count_cell(t, &x->after);
}

/* blocks of a procedure that changed: some, and some that are new or gone */
static void code_cell(struct table *t, const struct change *x, enum by by)
{
	char text[96];

	if (!x || by != BY_PROCEDURE || x->code != CODE_CHANGED) {
		table_text(t, x ? change_code_name(x->code) : "");
		return;
	}
	snprintf(text, sizeof text, "~%" PRIu32 " -%" PRIu32 " +%" PRIu32
		 " blocks", x->changed, x->only_before, x->only_after);
	table_text(t, text);
}

/* --- where it is, before and after */

static const struct table_column proc_columns[] = {
	{"calls before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"edges", TABLE_NUMBER}, {0},
}, block_columns[] = {
	{"block before", TABLE_NUMBER}, {"after", TABLE_NUMBER}, {0},
}, edge_columns[] = {
	{"from before", TABLE_NUMBER}, {"to", TABLE_NUMBER},
	{"from after", TABLE_NUMBER}, {"to", TABLE_NUMBER},
	{"kind", TABLE_WORD}, {0},
}, insn_columns[] = {
	{"address before", TABLE_NUMBER}, {"after", TABLE_NUMBER}, {0},
}, no_columns[] = {{0}};

static const struct table_column *const part_columns[BY_KINDS] = {
	[BY_PROCEDURE] = proc_columns, [BY_BLOCK] = block_columns,
	[BY_EDGE] = edge_columns, [BY_INSTRUCTION] = insn_columns,
	[BY_IMAGE] = no_columns, [BY_LINE] = no_columns,
};

static void block_cell(struct table *t, const struct counts *in, uint32_t image,
		       uint32_t block)
{
	bool there = block != MATCH_NONE;

	table_address(t, there, there ?
		      in->image[image].map->block.at[block].start : 0);
}

static void edge_cells(struct table *t, const struct counts *in, uint32_t image,
		       uint32_t proc, uint32_t edge)
{
	const struct counts_image *m;
	struct edge_ends ends = {0};

	if (edge != MATCH_NONE) {
		m = &in->image[image];
		ends = edge_ends(m, &m->map->proc.at[proc],
				 &m->map->edge.at[edge]);
	}
	table_address(t, ends.has_from, ends.from);
	table_address(t, ends.has_to, ends.to);
}

/* of code that was not counted: where its samples are */
static void place_part_cells(struct table *t, const struct diff *d,
			     const struct diff_row *row)
{
	const struct run_place *p = diff_place(d, row);
	const struct significance_row *s = diff_share(d, row);

	if (d->query->by == BY_PROCEDURE) {
		for (int i = 0; i < 3; i++)
			table_text(t, "");
	} else if (d->query->by == BY_BLOCK || d->query->by == BY_INSTRUCTION) {
		table_address(t, s->count[0], p->address);
		table_address(t, s->count[1], p->address);
	}
}

/* what it is in each of the runs, or calls of a procedure */
static void part_cells(struct table *t, const struct diff *d,
		       const struct diff_row *row)
{
	const struct change *x = diff_change(d, row);
	const struct match *m = &d->match;
	const struct match_image *i;

	if (!x) {
		place_part_cells(t, d, row);
		return;
	}
	i = &m->v.at[x->image];
	switch (d->query->by) {
	case BY_BLOCK:
		change_need(m, x);
		block_cell(t, m->a, i->a, x->part_a);
		block_cell(t, m->b, i->b, x->part_b);
		break;
	case BY_EDGE:
		change_need(m, x);
		edge_cells(t, m->a, i->a, x->a, x->part_a);
		edge_cells(t, m->b, i->b, x->b, x->part_b);
		table_text(t, change_edge_name(m, x));
		break;
	case BY_INSTRUCTION:
		table_address(t, x->before.there, x->address_a);
		table_address(t, x->after.there, x->address_b);
		break;
	case BY_PROCEDURE:
		count_cell(t, &x->calls_before);
		count_cell(t, &x->calls_after);
		table_number(t, true, x->edges);
		break;
	default:
		break;
	}
}

/* --- samples */

/* share and interval in points of percent */
static void points_cell(struct table *t, double share, bool sign)
{
	char text[48];

	snprintf(text, sizeof text, sign ? "%+.3f" : "%.3f", 100 * share);
	table_text(t, text);
}

static void share_cells(struct table *t, const struct significance_row *x)
{
	if (!x) {
		for (int i = 0; i < 8; i++)
			table_text(t, "");
		return;
	}
	table_text(t, x->significant ? "*" : "");
	points_cell(t, x->difference, true);
	points_cell(t, x->low, true);
	points_cell(t, x->high, true);
	for (int i = 0; i < 2; i++)
		points_cell(t, x->share[i], false);
	for (int i = 0; i < 2; i++)
		table_number(t, true, x->count[i]);
}

/* --- all of a row */

static void put_all(struct columns *c, const struct table_column *v)
{
	for (; v->head; v++)
		columns_put(c, v->head, v->kind);
}

static void metric_heads(struct columns *c, const struct diff *d)
{
	static const struct table_column counts[] = {
		{"change", TABLE_NUMBER}, {"%", TABLE_NUMBER},
		{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER}, {0},
	}, shares[] = {
		{"from", TABLE_NUMBER}, {"to", TABLE_NUMBER},
		{"% before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
		{"samples before", TABLE_NUMBER}, {"after", TABLE_NUMBER}, {0},
	};
	enum by by = d->query->by;

	if (d->counted) {
		put_all(c, counts);
		put_all(c, part_columns[by]);
		if (by != BY_LINE)
			columns_put(c, "code", TABLE_WORD);
	}
	if (d->sampled) {
		columns_put(c, "", TABLE_WORD);
		columns_put(c, d->counted ? "points" : "change", TABLE_NUMBER);
		put_all(c, shares);
	}
	for (int i = 0; i < 2 && d->ratio[0].name; i++) {
		columns_put(c, i ? "after" : d->ratio[0].name, TABLE_NUMBER);
		columns_put(c, "±", TABLE_NUMBER);
	}
}

static void more_heads(struct columns *c, const struct diff *d)
{
	struct metric m[METRICS];
	unsigned n = diff_more(d, m);

	for (unsigned i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			columns_put(c, side ? "after" : m[i].name,
				    TABLE_NUMBER);
			if (m[i].errors)
				columns_put(c, "±", TABLE_NUMBER);
		}
}

static void more_cells(struct table *t, const struct diff *d,
		       const struct diff_row *row)
{
	struct value v[2][METRICS];
	struct metric m[METRICS];
	unsigned n = diff_more(d, m);

	for (int side = 0; n && side < 2; side++)
		diff_more_values(d, row, side, v[side]);
	for (unsigned i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			table_number(t, v[side][i].known, v[side][i].n);
			if (m[i].errors)
				error_cell(t, &v[side][i]);
		}
}

static void place_heads(struct columns *c, const struct diff *d)
{
	enum by by = d->query->by;

	if (by == BY_INSTRUCTION && !d->counted)
		columns_put(c, "address", TABLE_NUMBER);
	columns_put(c, "image", by == BY_IMAGE ? TABLE_NAME : TABLE_DIM);
	if (by != BY_IMAGE)
		columns_put(c, by == BY_LINE ? "line" : "procedure",
			    TABLE_NAME);
}

static void metric_cells(struct table *t, const struct diff *d,
			 const struct diff_row *row)
{
	const struct change *x = diff_change(d, row);

	if (d->counted) {
		count_cells(t, x);
		part_cells(t, d, row);
		if (d->query->by != BY_LINE)
			code_cell(t, x, d->query->by);
	}
	if (d->sampled)
		share_cells(t, diff_share(d, row));
	for (int i = 0; i < 2 && d->ratio[0].name; i++) {
		struct value v = diff_ratio(d, row, i);

		ratio_cells(t, &v);
	}
}

static void place_cells(struct table *t, const struct diff *d,
			const struct diff_row *row)
{
	const struct change *x = diff_change(d, row);
	const struct run_place *p = diff_place(d, row);
	enum by by = d->query->by;

	if (by == BY_INSTRUCTION && !d->counted)
		table_address(t, true, p->address);
	table_text(t, x ? change_image(&d->match, x)->name : p->image);
	if (by == BY_IMAGE)
		return;
	if (!x)
		line_cell(t, p->name, p->line, p->line);
	else if (x->file)
		line_cell(t, x->file, true, x->line);
	else
		table_text(t, change_procedure(&d->match, x));
}

static enum table_look look_of(const struct diff *d, const struct diff_row *row)
{
	const struct change *x = diff_change(d, row);
	const struct significance_row *s = diff_share(d, row);

	if (x && !change_known(x))
		return LOOK_UNKNOWN;
	if (x && x->before.n != x->after.n)
		return x->after.n > x->before.n ? LOOK_HOT : LOOK_GOOD;
	return !s || !s->significant ? LOOK_PLAIN :
	       s->difference > 0 ? LOOK_HOT : LOOK_GOOD;
}

/* --- the sides as a whole */

static const char *const side_name[2] = {"before", "after"};

static void print_run(const struct style *s, const struct diff *d, int side)
{
	const struct counts *t = &d->counts[side];
	char n[FIGURE_WIDTH];

	fprintf(s->to, "%s%-6s%s  %s instructions  ", s->dim, side_name[side],
		s->off, figures_number(t->instructions, n));
	fputs(s->head, s->to);
	name_print(s->to, t->profile.file.name, "");
	fprintf(s->to, "%s  %s", s->off, s->dim);
	name_print(s->to, t->profile.command, "");
	fprintf(s->to, "%s\n", s->off);
}

/* samples, runs and where they come from */
static void print_epochs(const struct style *s, const struct diff *d, int side)
{
	const struct noise *n = &d->shares.noise;
	char count[FIGURE_WIDTH];

	fprintf(s->to, "%s%-6s%s  %s samples in %" PRIu32 " epoch%s  ", s->dim,
		side_name[side], s->off, figures_number(n->total[side], count),
		n->runs[side], n->runs[side] > 1 ? "s" : "");
	fputs(s->head, s->to);
	name_print(s->to, d->query->database[side], "");
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

void diff_show_text(const struct diff *d, size_t limit, FILE *to)
{
	struct style s = style_for(to);
	struct columns c = {0};
	struct table t;

	for (int side = 0; d->counted && side < 2; side++)
		print_run(&s, d, side);
	for (int side = 0; d->sampled && side < 2; side++)
		print_epochs(&s, d, side);
	if (d->sampled)
		print_noise(&s, &d->shares);
	if (!d->v.n) {
		fprintf(to, "nothing changed%s\n",
			d->sampled ? " by more than noise" : "");
		return;
	}
	putc('\n', to);
	metric_heads(&c, d);
	more_heads(&c, d);
	place_heads(&c, d);
	table_begin(&t, c.v, c.n, to);
	for (size_t i = 0; i < d->v.n && i < limit; i++) {
		const struct diff_row *row = &d->v.at[i];

		metric_cells(&t, d, row);
		more_cells(&t, d, row);
		place_cells(&t, d, row);
		table_end_row(&t, look_of(d, row));
	}
	table_print(&t);
}
