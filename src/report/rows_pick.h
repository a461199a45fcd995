/*
 * rows_pick: which rows are asked for, and in which order.
 */
#ifndef REPORT_ROWS_PICK_H
#define REPORT_ROWS_PICK_H

#include "report/rows.h"

bool rows_have_shares(enum by by);

/*
 * Keeps a row, whose values are the first in r->values, if it is asked for and
 * may be among the first query.limit. What is inside of its procedure has to be
 * there.
 */
void rows_pick(struct rows *r, const struct row *row);
/* whether rows of an image are asked for at all */
bool rows_want_image(const struct rows *r, uint32_t image);
/* those that were kept, in order */
void rows_sort(struct rows *r);
/* by image, file and line; of those without a file by procedure */
int rows_compare_lines(const struct row *p, const struct row *q);

/* the metric that shares are of, the first one; NULL: there is none */
const struct metric *rows_shared(const struct rows *r);
/* that metric's value, if it is known, of a row */
const struct value *row_shared(const struct rows *r, const struct row *row);

#endif
