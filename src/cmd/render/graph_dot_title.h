/*
 * graph_dot_title: what stands above the picture: whose it is, its figures,
 * and what the colours mean.
 */
#ifndef CMD_RENDER_GRAPH_DOT_TITLE_H
#define CMD_RENDER_GRAPH_DOT_TITLE_H

#include "cmd/render/graph_show.h"

#define DOT_UNKNOWN "#fff09a"
#define DOT_UNKNOWN_LINE "#b09000"
#define DOT_STAYS "#cfd6e4"
#define DOT_LOOP "#5858a8"

void dot_title(const struct drawn *d, FILE *to);

/*
 * graph_dot.c: text that cannot break a drawing, in labels of either kind and
 * in tooltips; if it is longer than max, "..." stands for its middle.
 */
void dot_text(FILE *to, const char *s, size_t max);

#endif
