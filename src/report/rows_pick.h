/*
 * rows_pick: which rows are wished for, and in which order.
 */
#ifndef REPORT_ROWS_PICK_H
#define REPORT_ROWS_PICK_H

#include "report/rows.h"

/* whether rows have procedures, or numbers of executed instructions */
bool rows_have_procedures(enum rows_by by);
bool rows_have_shares(enum rows_by by);

/*
 * Keeps a row if it is wished for, and may be among the first wish.limit. What
 * is inside of its procedure has to be there.
 */
void rows_pick(struct rows *r, const struct row *row);
/* those that were kept, in order */
void rows_sort(struct rows *r);

/* instructions that a row's part of the program executed, if known */
uint64_t row_executed(const struct rows *all, const struct row *r);

#endif
