/* diff_show: the ways to show what changed. Part of `tally diff`. */
#ifndef CMD_RENDER_DIFF_SHOW_H
#define CMD_RENDER_DIFF_SHOW_H

#include <stdio.h>

#include "report/diff/diff.h"

/* not more than `limit` rows */
void diff_show_text(const struct diff *d, size_t limit, FILE *to);
void diff_show_json(const struct diff *d, size_t limit, FILE *to);

#endif
