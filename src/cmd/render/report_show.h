/* report_show: the ways to show a profile. Part of `tally report`. */
#ifndef CMD_RENDER_REPORT_SHOW_H
#define CMD_RENDER_REPORT_SHOW_H

#include <stdio.h>

#include "base/json.h"
#include "report/diff/match.h"
#include "report/runs.h"

/* a table for people; requires: only what is sure was asked for */
void report_show_text(const struct rows *r, FILE *to);
/* the contract of doc/report-json.md: an array of objects */
void report_show_json(const struct rows *r, FILE *to);
/* the first n procedures of a source, as a table, and the notes */
int report_show_hottest(const char *source, const struct samples_query *pick,
			size_t n, FILE *to, struct err *e);
/* what is wrong with a profile, or missing in it, on stderr */
void report_show_notes(const struct counts *t);
/* where what calls cost is asked for: that it is all there is needs no note */
void report_show_call_notes(const struct counts *t);
/* what is wrong with the profiles of sources, and why time per execution is
   relative, on stderr */
void report_show_dataset_notes(const struct dataset *d);
/* why time per execution is not told in its unit; NULL: it is */
void report_show_relative(const char *why);
/* lost samples, and images without names; requires: names were asked for */
void report_show_sample_notes(const struct samples *s);
/* that there are events which were not compared, on stderr */
void report_show_one_event(const struct runs *r);
/* if the image's file is not there, or another: says so on stderr; true */
bool report_show_absent(const struct counts_image *m);
/* why there are no lines of some images or, unless there are any, of all */
void report_show_lineless(const struct counts *t, bool any);
/* images of two runs that cannot be compared, on stderr */
void report_show_uncompared(const struct match *m);
/* that more than one procedure is called so, on stderr */
void report_show_others(uint32_t others);
/* the keys of a procedure without its image, in an open object */
void report_json_procedure(struct json *j, const struct counts_image *m,
			   uint32_t proc);
/* the keys of an edge, in an open object */
void report_json_edge(struct json *j, const struct counts_image *m,
		      uint32_t proc, uint32_t edge);
/* "count", or null and why */
void report_json_count(struct json *j, const char *key, bool known,
		       uint64_t count, const char *why);
/* time per execution, and its error; null: it is not known */
void report_json_ratio(struct json *j, const char *key, const struct metric *m,
		       const struct value *v);
/* a value of a further source under its name, its error, and what it is */
void report_json_metric(struct json *j, const struct metric *m,
			const struct value *v);
/* "troubles": what profile_header.trouble says */
void report_json_troubles(struct json *j, const struct counts *t);

#endif
