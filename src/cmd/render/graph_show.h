/* graph_show: the ways to show a procedure's graph. Part of `tally graph`. */
#ifndef CMD_RENDER_GRAPH_SHOW_H
#define CMD_RENDER_GRAPH_SHOW_H

#include <stdio.h>

#include "report/picture.h"
#include "report/sample_graph.h"

/* what is drawn: the graph, and its instructions with their source */
struct drawn {
	const struct counts *t;
	const struct sample_graph *sampled; /* or NULL: it was counted */
	struct picture picture;
	struct annotation code;
};

/* input for graphviz */
void graph_show_dot(const struct drawn *d, FILE *to);
void graph_show_json(const struct drawn *d, FILE *to);
/* a page of its own with the graph, which graphviz made an SVG of */
void graph_show_html(const struct drawn *d, const char *svg, FILE *to);

/*
 * What graphviz makes of the file `dot`: "svg" or "ps", in a new file. NULL
 * and *e if it is not there or fails.
 */
FILE *graph_layout(FILE *dot, const char *form, struct err *e);

#endif
