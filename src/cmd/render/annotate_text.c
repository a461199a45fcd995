/*
 * annotate_text: a procedure for people: what ran most is red, what never ran
 * is dim.
 */
#include <inttypes.h>

#include "cmd/render/annotate_show.h"
#include "cmd/render/figures.h"
#include "cmd/render/cells.h"
#include "base/name.h"

/* of a procedure that was counted: which way branches went, or what is called;
   of code that was not measured: why */
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

static void print_counts(const struct annotation *a, FILE *to)
{
	const struct solved *s = &a->m->solved;
	char calls[FIGURE_WIDTH] = "unknown", insns[FIGURE_WIDTH] = "unknown";
	uint64_t n, all = a->data->counts->instructions;
	bool known = counts_instructions(a->m, a->proc, &n);

	if (s->calls_known[a->proc])
		figures_number(s->calls[a->proc], calls);
	if (known)
		figures_number(n, insns);
	fprintf(to, "\ncalls %s, instructions %s", calls, insns);
	if (known && all)
		fprintf(to, ", %.2f%% of all",
			100.0 * (double)n / (double)all);
}

static void print_samples(const struct annotation *a, FILE *to)
{
	for (unsigned i = 0; i < a->events; i++) {
		const struct samples_event *x = &a->data->samples->event.at[i];
		uint64_t n = a->metric[a->first_event + i].total;

		fprintf(to, "\n%" PRIu64 " samples of %s", n, x->name);
		if (x->samples)
			fprintf(to, ", %.2f%% of all", 100.0 * (double)n /
				(double)x->samples);
	}
}

static void print_head(const struct annotation *a, FILE *to)
{
	struct style st = style_for(to);

	fputs(st.head, to);
	name_print(to,
		   a->m ? symbolizer_procedure(a->m->symbolizer, a->proc)
			: a->found.at.procedure,
		   "");
	fprintf(to, "%s  %s", st.off, st.dim);
	name_print(to, a->data->image.at[a->found.image].name, "");
	fputs(st.off, to);
	if (a->m)
		print_counts(a, to);
	print_samples(a, to);
	fputs("\n\n", to);
}

static void list_columns(struct columns *c, const struct annotation *a)
{
	metric_columns(c, a->metric, a->metrics, false);
	columns_put(c, "address", TABLE_NUMBER);
	columns_put(c, "instruction", TABLE_NAME);
	if (a->m)
		columns_put(c, "branch or call", TABLE_WORD);
	columns_put(c, "line", TABLE_NUMBER);
	columns_put(c, "source", TABLE_WORD);
}

/* shares are of the procedure; what is nothing has none */
static void value_cells(struct table *x, const struct annotation *a,
			const struct noted *n)
{
	for (unsigned i = 0; i < a->metrics; i++) {
		const struct value *v = noted_values(a, n) + i;

		if (a->metric[i].evidence == EVIDENCE_RATIO) {
			ratio_cells(x, v);
			continue;
		}
		if (!i && n->in_place)
			table_text(x, "-");
		else
			table_number(x, v->known, v->n);
		table_share(x, v->known && v->n, v->n, a->metric[i].total);
	}
}

void annotate_show_text(const struct annotation *a, FILE *to)
{
	struct source_cells s = {0};
	struct columns c = {0};
	struct table x;

	print_head(a, to);
	list_columns(&c, a);
	table_begin(&x, c.v, c.n, to);
	for (size_t i = 0; i < a->v.n; i++) {
		const struct noted *n = &a->v.at[i];
		const struct value *v = noted_values(a, n);

		value_cells(&x, a, n);
		table_address(&x, true, n->addr);
		table_text(&x, n->text ? n->text : "?");
		if (a->m)
			branch_cell(&x, n);
		source_cells_put(&s, &x, &n->place);
		table_end_row(&x, table_heat(v->known, v->n,
					     a->metric[0].total));
	}
	table_print(&x);
	source_cells_free(&s);
}
