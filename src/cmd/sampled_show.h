/* sampled_show: what listings that compare runs of samples have in common. */
#ifndef CMD_SAMPLED_SHOW_H
#define CMD_SAMPLED_SHOW_H

#include <stdio.h>

#include "cmd/table.h"
#include "report/sampled_runs.h"

/* that there are events which were not looked at, on stderr */
void sampled_show_one_event(const struct sampled_runs *r);
/* the columns that say what a row is about; how many */
unsigned sampled_show_columns(struct table_column *c, enum sampled_by by);

#endif
