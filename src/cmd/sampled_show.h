/* sampled_show: databases of samples for people and programs. */
#ifndef CMD_SAMPLED_SHOW_H
#define CMD_SAMPLED_SHOW_H

#include <stdio.h>

#include "cmd/table.h"
#include "report/sampled_runs.h"

/* a table of at most `limit` rows, with what there is to know about it */
void sampled_show_text(struct sampled *s, const struct sampled_rows *r,
		       enum sampled_by by, size_t limit, FILE *to);
/* the contract of product.md: an array of objects */
void sampled_show_json(struct sampled *s, const struct sampled_rows *r,
		       enum sampled_by by, size_t limit, FILE *to);
/* the first n procedures of an epoch of this host, as a table */
int sampled_show_hottest(const char *directory, int64_t epoch, size_t n,
			 FILE *to, struct err *e);
/* images whose files are not there, or others, on stderr */
void sampled_show_notes(const struct sampled *s);

/* that there are events which were not looked at, on stderr */
void sampled_show_one_event(const struct sampled_runs *r);
/* the columns that say what a row is about; how many */
unsigned sampled_show_columns(struct table_column *c, enum sampled_by by);

#endif
