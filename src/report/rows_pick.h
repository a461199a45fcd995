/*
 * rows_pick: some of the rows, in another order.
 */
#ifndef REPORT_ROWS_PICK_H
#define REPORT_ROWS_PICK_H

#include "report/rows.h"

enum rows_sort {
	SORT_DEFAULT, /* as rows_make() leaves them */
	SORT_COUNT,   /* most first */
	SORT_CALLS,   /* of procedures: most first */
	SORT_ADDRESS, /* images by name; of lines: file and number */
	SORT_NAME,    /* of procedures: by that, then by image */
};

struct rows_wish {
	const char *image; /* its file's name, or a pattern as of a shell */
	const char *procedure; /* see find.h, or a pattern */
	double share; /* at least that much of all executed instructions */
	enum rows_sort sort;
	bool reverse; /* the other way round; what is unknown stays last */
};

/* whether rows have procedures, or numbers of executed instructions */
bool rows_have_procedures(enum rows_by by);
bool rows_have_shares(enum rows_by by);

/* requires: what the wish asks for is there */
void rows_pick(struct rows *r, const struct told *t, enum rows_by by,
	       const struct rows_wish *w);

/* instructions that a row's part of the program executed, if known */
uint64_t row_executed(const struct told *t, const struct rows *all,
		      const struct row *r, enum rows_by by);

#endif
