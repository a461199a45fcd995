/*
 * source_cells: the source beside instructions, two cells of a table: the
 * number of the line and its text, where it is another than in the row before.
 */
#ifndef CMD_RENDER_SOURCE_CELLS_H
#define CMD_RENDER_SOURCE_CELLS_H

#include "cmd/render/table.h"
#include "profile/lines/lines.h"
#include "profile/text.h"

struct source_cells {
	const char *file; /* of the last row */
	uint32_t line;
	struct texts texts;
};

void source_cells_put(struct source_cells *s, struct table *x,
		      const struct line_place *p);
void source_cells_free(struct source_cells *s);

#endif
