/* cells: columns of metrics, and of anything, in tables. */
#ifndef CMD_RENDER_CELLS_H
#define CMD_RENDER_CELLS_H

#include "cmd/render/table.h"
#include "profile/lines/lines.h"
#include "profile/metric.h"
#include "profile/text.h"

/* the columns of a listing, while they are listed */
struct columns {
	struct table_column v[3 * METRICS + 12];
	unsigned n;
};

void columns_put(struct columns *c, const char *head, enum table_kind kind);
/* one for each metric, with its shares; sums: and what all have so far */
void metric_columns(struct columns *c, const struct metric *m, unsigned n,
		    bool sums);
/* a line of what is called so, or the name alone */
void line_cell(struct table *x, const char *name, bool with_line,
	       uint32_t line);
/* the relative standard error of a value */
void error_cell(struct table *x, const struct value *v);
/* a quotient, and its standard error */
void ratio_cells(struct table *x, const struct value *v);

/*
 * source_cells: the source beside instructions, two cells of a table: the
 * number of the line and its text, where it is another than in the row before.
 */
struct source_cells {
	const char *file; /* of the last row */
	uint32_t line;
	struct texts texts;
};

void source_cells_put(struct source_cells *s, struct table *x,
		      const struct line_place *p);
void source_cells_free(struct source_cells *s);

#endif
