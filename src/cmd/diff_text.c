/* diff_text: what changed, for people. */
#include <inttypes.h>

#include "cmd/diff_show.h"
#include "cmd/figures.h"
#include "base/name.h"
#include "cmd/table.h"
#include "report/walk.h"

static const struct table_column proc_columns[] = {
	{"change", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"calls before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"edges", TABLE_NUMBER}, {"code", TABLE_WORD}, {"image", TABLE_DIM},
	{"procedure", TABLE_NAME},
};

static const struct table_column block_columns[] = {
	{"change", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"block before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"code", TABLE_WORD}, {"image", TABLE_DIM}, {"procedure", TABLE_NAME},
};

static const struct table_column edge_columns[] = {
	{"change", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"from before", TABLE_NUMBER}, {"to", TABLE_NUMBER},
	{"from after", TABLE_NUMBER}, {"to", TABLE_NUMBER},
	{"kind", TABLE_WORD}, {"code", TABLE_WORD}, {"image", TABLE_DIM},
	{"procedure", TABLE_NAME},
};

#define COLUMNS(c) (sizeof(c) / sizeof *(c))

static const struct {
	const struct table_column *column;
	unsigned n;
} columns[] = {
	[CHANGE_PROCEDURES] = {proc_columns, COLUMNS(proc_columns)},
	[CHANGE_BLOCKS] = {block_columns, COLUMNS(block_columns)},
	[CHANGE_EDGES] = {edge_columns, COLUMNS(edge_columns)},
};

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

/* blocks of a procedure that changed: some, and some that are new or gone */
static void code_cell(struct table *t, const struct change *x,
		      enum change_by by)
{
	char text[96];

	if (by != CHANGE_PROCEDURES || x->code != CODE_CHANGED) {
		table_text(t, change_code_name(x->code));
		return;
	}
	snprintf(text, sizeof text, "~%" PRIu32 " -%" PRIu32 " +%" PRIu32
		 " blocks", x->changed, x->only_before, x->only_after);
	table_text(t, text);
}

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

/* what a block or an edge is in each of the runs, or calls of a procedure */
static void part_cells(struct table *t, const struct match *m,
		       const struct change *x, enum change_by by)
{
	const struct match_image *i = &m->v.at[x->image];

	if (by != CHANGE_PROCEDURES)
		change_need(m, x);
	switch (by) {
	case CHANGE_BLOCKS:
		block_cell(t, m->a, i->a, x->part_a);
		block_cell(t, m->b, i->b, x->part_b);
		break;
	case CHANGE_EDGES:
		edge_cells(t, m->a, i->a, x->a, x->part_a);
		edge_cells(t, m->b, i->b, x->b, x->part_b);
		table_text(t, change_edge_name(m, x));
		break;
	default:
		count_cell(t, &x->calls_before);
		count_cell(t, &x->calls_after);
		table_number(t, true, x->edges);
	}
}

static void add_row(struct table *t, const struct match *m,
		    const struct change *x, enum change_by by)
{
	bool known = (x->before.known || !x->before.there) &&
		     (x->after.known || !x->after.there);

	table_change(t, known, x->before.n, x->after.n);
	percent_cell(t, x);
	count_cell(t, &x->before);
	count_cell(t, &x->after);
	part_cells(t, m, x, by);
	code_cell(t, x, by);
	table_text(t, change_image(m, x)->name);
	table_text(t, change_procedure(m, x));
	table_end_row(t, !known ? LOOK_UNKNOWN :
			 x->after.n > x->before.n ? LOOK_HOT :
			 x->after.n < x->before.n ? LOOK_GOOD : LOOK_PLAIN);
}

/* one of the runs as a whole */
static void print_run(const struct style *s, const char *what,
		      const struct counts *t)
{
	char n[FIGURE_WIDTH];

	fprintf(s->to, "%s%s%s  %s instructions  ", s->dim, what, s->off,
		figures_number(t->instructions, n));
	fputs(s->head, s->to);
	name_print(s->to, t->profile.file.name, "");
	fprintf(s->to, "%s  %s", s->off, s->dim);
	name_print(s->to, t->profile.command, "");
	fprintf(s->to, "%s\n", s->off);
}

void diff_show_text(const struct changes *c, enum change_by by, size_t limit,
		    FILE *to)
{
	struct style s = style_for(to);
	struct table t;

	print_run(&s, "before", c->m->a);
	print_run(&s, "after ", c->m->b);
	if (!c->v.n) {
		fputs("nothing changed\n", to);
		return;
	}
	putc('\n', to);
	table_begin(&t, columns[by].column, columns[by].n, to);
	for (size_t i = 0; i < c->v.n && i < limit; i++)
		add_row(&t, c->m, &c->v.at[i], by);
	table_print(&t);
}
