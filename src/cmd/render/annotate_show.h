/* annotate_show: the ways to show a procedure. Part of `tally annotate`. */
#ifndef CMD_RENDER_ANNOTATE_SHOW_H
#define CMD_RENDER_ANNOTATE_SHOW_H

#include <stdio.h>

#include "report/annotation.h"

void annotate_show_text(const struct annotation *a, FILE *to);
void annotate_show_json(const struct annotation *a, FILE *to);

#endif
