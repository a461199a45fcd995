/* source_cells: see source_cells.h. */
#include "cmd/render/source_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
