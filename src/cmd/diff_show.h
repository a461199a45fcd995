/* diff_show: the ways to show what changed. Part of `tally diff`. */
#ifndef CMD_DIFF_SHOW_H
#define CMD_DIFF_SHOW_H

#include <stdio.h>

#include "report/change.h"

void diff_show_text(const struct changes *c, enum change_by by, size_t limit,
		    FILE *to);
void diff_show_json(const struct changes *c, enum change_by by, size_t limit,
		    FILE *to);

#endif
