/* cells: see cells.h. */
#include "cmd/render/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void columns_put(struct columns *c, const char *head, enum table_kind kind)
{
	c->v[c->n++] = (struct table_column){head, kind};
}

void metric_columns(struct columns *c, const struct metric *m, unsigned n,
		    bool sums)
{
	for (unsigned i = 0; i < n; i++) {
		columns_put(c, m[i].name, TABLE_NUMBER);
		if (m[i].evidence == EVIDENCE_RATIO || m[i].errors)
			columns_put(c, "±", TABLE_NUMBER);
		if (m[i].share == SHARE_OF_ALL || m[i].share == SHARE_AND_SUM)
			columns_put(c, "%", TABLE_NUMBER);
		if (m[i].share == SHARE_AND_SUM && sums)
			columns_put(c, "cum%", TABLE_NUMBER);
	}
}

void line_cell(struct table *x, const char *name, bool with_line, uint32_t line)
{
	char *text = mem_alloc(strlen(name) + 16);

	if (with_line)
		sprintf(text, "%s:%" PRIu32, name, line);
	else
		strcpy(text, name);
	table_text(x, text);
	mem_free(text);
}

void error_cell(struct table *x, const struct value *v)
{
	char error[32] = "";

	if (v->known)
		snprintf(error, sizeof error, "%.0f%%", 100 * v->error);
	table_text(x, error);
}

void ratio_cells(struct table *x, const struct value *v)
{
	if (v->known)
		table_real(x, v->ratio, "");
	else
		table_text(x, "-");
	error_cell(x, v);
}

/* --- source cells */

/* a cell of text; tabs become spaces, or they would be shown as bytes */
static void text_cell(struct table *x, const char *s)
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

void source_cells_put(struct source_cells *s, struct table *x,
		      const struct line_place *p)
{
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
	text_cell(x, text ? text : "");
}

void source_cells_free(struct source_cells *s)
{
	texts_free(&s->texts);
}
