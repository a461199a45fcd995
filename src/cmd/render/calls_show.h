/*
 * calls_show: `tally report` of a profile that has what calls cost.
 */
#ifndef CMD_RENDER_CALLS_SHOW_H
#define CMD_RENDER_CALLS_SHOW_H

#include <stdio.h>

#include "profile/run_calls.h"
#include "report/rows.h"

/* by call site and callee, or (q->..) by procedure; what the query picks */
void calls_show_sites(struct run_calls *r, const struct rows_query *q,
		      bool json, FILE *to);
void calls_show_procedures(struct run_calls *r, const struct rows_query *q,
			   bool json, FILE *to);

#endif
