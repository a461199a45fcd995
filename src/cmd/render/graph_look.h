/*
 * graph_look: colours and widths of what ran. One scale for blocks and for the
 * ways between them: how hot something is says its share of the highest count
 * of its kind, to the power of HEAT_POWER, so that a loop in a loop can be
 * told from what is around it, and that from what ran once.
 */
#ifndef CMD_RENDER_GRAPH_LOOK_H
#define CMD_RENDER_GRAPH_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/render/graph_show.h"

enum { COLOUR_TEXT = 8 }; /* "#rrggbb" and its end */

/* 0 (next to nothing) to 1 */
double look_heat(uint64_t count, uint64_t most);
/* of what ran: the inside of a block, a line */
const char *look_fill(double heat, char colour[COLOUR_TEXT]);
const char *look_line(double heat, char colour[COLOUR_TEXT]);
/* of a line, in points */
double look_width(double heat);

/*
 * graph_dot_title: what stands above the picture: whose it is, its figures,
 * and what the colours mean.
 */
#define DOT_UNKNOWN "#fff09a"
#define DOT_UNKNOWN_LINE "#b09000"
#define DOT_STAYS "#cfd6e4"
#define DOT_LOOP "#5858a8"

void dot_title(const struct drawn *d, FILE *to);

/*
 * Text that cannot break a drawing, in labels of either kind and
 * in tooltips; if it is longer than max, "..." stands for its middle.
 */
void dot_text(FILE *to, const char *s, size_t max);

#endif
