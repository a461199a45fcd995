/* annotate_show: the ways to show a procedure. Part of `tally annotate`. */
#ifndef CMD_ANNOTATE_SHOW_H
#define CMD_ANNOTATE_SHOW_H

#include <stdio.h>

#include "report/annotation.h"
#include "report/sampled_annotation.h"

void annotate_show_text(const struct told *t, const struct annotation *a,
			FILE *to);
void annotate_show_json(const struct told *t, const struct annotation *a,
			FILE *to);
/* the same with samples */
void annotate_sampled_text(const struct sampled *s,
			   const struct sampled_annotation *a, FILE *to);
void annotate_sampled_json(const struct sampled *s,
			   const struct sampled_annotation *a, FILE *to);

#endif
