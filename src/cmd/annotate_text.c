/*
 * annotate_text: a procedure for people: what ran most is red, what never ran
 * is dim.
 */
#include <inttypes.h>

#include "cmd/annotate_show.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/source_cells.h"

static const struct table_column columns[] = {
	{"count", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"address", TABLE_NUMBER}, {"instruction", TABLE_NAME},
	{"branch or call", TABLE_WORD}, {"line", TABLE_NUMBER},
	{"source", TABLE_WORD},
};

static void count_cells(struct table *x, const struct noted *n, uint64_t all)
{
	if (n->in_place)
		table_text(x, "-");
	else
		table_number(x, n->known, n->count);
	table_share(x, n->known && n->count, n->count, all);
}

static void branch_cell(struct table *x, const struct noted *n)
{
	char text[64] = "";

	if (n->in_place) {
		table_text(x, n->in_place);
		return;
	}
	if (n->is_branch && n->count)
		snprintf(text, sizeof text, "taken %.1f%%",
			 100.0 * (double)n->taken / (double)n->count);
	table_text(x, n->callee && !*text ? n->callee : text);
}

static void print_head(const struct told *t, const struct annotation *a,
		       uint64_t all, bool all_known, FILE *to)
{
	const struct solved *s = &a->m->solved;
	struct style st = style_for(to);
	char calls[FIGURE_WIDTH] = "unknown", insns[FIGURE_WIDTH] = "unknown";

	if (s->calls_known[a->proc])
		figures_number(s->calls[a->proc], calls);
	if (all_known)
		figures_number(all, insns);
	fputs(st.head, to);
	name_print(to, legend_procedure(a->m->legend, a->proc), "");
	fprintf(to, "%s  %s", st.off, st.dim);
	name_print(to, a->m->name, "");
	fprintf(to, "%s\ncalls %s, instructions %s", st.off, calls, insns);
	if (all_known && t->instructions)
		fprintf(to, ", %.2f%% of all",
			100.0 * (double)all / (double)t->instructions);
	fputs("\n\n", to);
}

void annotate_show_text(const struct told *t, const struct annotation *a,
			FILE *to)
{
	struct source_cells s = {0};
	struct table x;
	uint64_t all;
	bool known = told_instructions(a->m, a->proc, &all);

	print_head(t, a, all, known, to);
	table_begin(&x, columns, sizeof columns / sizeof *columns, to);
	for (size_t i = 0; i < a->v.n; i++) {
		const struct noted *n = &a->v.at[i];

		count_cells(&x, n, all);
		table_address(&x, true, n->addr);
		table_text(&x, n->text ? n->text : "?");
		branch_cell(&x, n);
		source_cells_put(&s, &x, &n->place);
		table_end_row(&x, table_heat(n->known && !n->in_place,
					     n->count, all));
	}
	table_print(&x);
	source_cells_free(&s);
}
