/* diff_text: what changed, for people. */
#include <inttypes.h>

#include "cmd/diff_show.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/table.h"

static const struct table_column proc_columns[] = {
	{"change", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"calls before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"code", TABLE_WORD}, {"image", TABLE_DIM}, {"procedure", TABLE_NAME},
};

static const struct table_column block_columns[] = {
	{"change", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"block before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
	{"code", TABLE_WORD}, {"image", TABLE_DIM}, {"procedure", TABLE_NAME},
};

enum { COLUMNS = sizeof proc_columns / sizeof *proc_columns };

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
static void code_cell(struct table *t, const struct change *x, bool blocks)
{
	char text[96];

	if (blocks || x->code != CODE_CHANGED) {
		table_text(t, change_code_name(x->code));
		return;
	}
	snprintf(text, sizeof text, "~%" PRIu32 " -%" PRIu32 " +%" PRIu32
		 " blocks", x->changed, x->only_before, x->only_after);
	table_text(t, text);
}

static void block_cell(struct table *t, const struct told *in, uint32_t image,
		       uint32_t block)
{
	bool there = block != MATCH_NONE;

	table_address(t, there, there ?
		      in->image[image].map->block.at[block].start : 0);
}

static void add_row(struct table *t, const struct match *m,
		    const struct change *x, bool blocks)
{
	bool known = (x->before.known || !x->before.there) &&
		     (x->after.known || !x->after.there);

	table_change(t, known, x->before.n, x->after.n);
	percent_cell(t, x);
	count_cell(t, &x->before);
	count_cell(t, &x->after);
	if (blocks) {
		block_cell(t, m->a, m->v.at[x->image].a, x->block_a);
		block_cell(t, m->b, m->v.at[x->image].b, x->block_b);
	} else {
		count_cell(t, &x->calls_before);
		count_cell(t, &x->calls_after);
	}
	code_cell(t, x, blocks);
	table_text(t, change_image(m, x)->name);
	table_text(t, change_procedure(m, x));
	table_end_row(t, !known ? LOOK_UNKNOWN :
			 x->after.n > x->before.n ? LOOK_HOT :
			 x->after.n < x->before.n ? LOOK_GOOD : LOOK_PLAIN);
}

/* one of the runs as a whole */
static void print_run(const struct style *s, const char *what,
		      const struct told *t)
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

void diff_show_text(const struct changes *c, bool blocks, size_t limit,
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
	table_begin(&t, blocks ? block_columns : proc_columns, COLUMNS, to);
	for (size_t i = 0; i < c->v.n && i < limit; i++)
		add_row(&t, c->m, &c->v.at[i], blocks);
	table_print(&t);
}
