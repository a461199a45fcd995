/*
 * annotate_text: a procedure for people: what ran most is red, what never ran
 * is dim.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/annotate_show.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/table.h"
#include "source/text.h"

static const struct table_column columns[] = {
	{"count", TABLE_NUMBER}, {"%", TABLE_NUMBER},
	{"address", TABLE_NUMBER}, {"instruction", TABLE_NAME},
	{"branch or call", TABLE_WORD}, {"line", TABLE_NUMBER},
	{"source", TABLE_WORD},
};

/* what is shown of a place, and of which file */
struct shown {
	const char *file;
	uint32_t line;
	struct texts texts;
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

/* tabs would be shown as bytes that nobody should see */
static void source_cell(struct table *x, const char *s)
{
	char text[512];
	size_t n = 0;

	for (; *s && n + 8 < sizeof text; s++) {
		if (*s == '\t')
			do
				text[n++] = ' ';
			while (n % 8);
		else
			text[n++] = *s;
	}
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\r'))
		n--;
	text[n] = '\0';
	table_text(x, text);
}

/* the line, where it is another than that of the instruction before */
static void line_cells(struct table *x, const struct noted *n,
		       struct shown *s)
{
	const struct line_place *p = &n->place;
	const char *text = NULL;
	char number[16] = "";

	if (p->file && p->line &&
	    (p->line != s->line || !s->file || strcmp(p->file, s->file))) {
		snprintf(number, sizeof number, "%" PRIu32, p->line);
		text = text_line(&s->texts, p->file, p->line);
		text = text ? text : p->file;
		s->file = p->file;
		s->line = p->line;
	}
	table_text(x, number);
	source_cell(x, text ? text : "");
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
	struct shown s = {0};
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
		line_cells(&x, n, &s);
		table_end_row(&x, table_heat(n->known && !n->in_place,
					     n->count, all));
	}
	table_print(&x);
	texts_free(&s.texts);
}
