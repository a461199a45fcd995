/*
 * table: rows of cells in columns as wide as their widest cell. Numbers stand
 * to the right, words to the left, and what may be long stands last. On a
 * terminal the columns have looks; elsewhere it is the same text without.
 *
 *	table_begin(&x, columns, n, stdout);
 *	table_number(&x, true, 1234);	cells, in the order of the columns
 *	table_text(&x, "main");
 *	table_end_row(&x, false);
 *	table_print(&x);		prints and frees
 */
#ifndef CMD_TABLE_H
#define CMD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "cmd/style.h"

enum table_kind {
	TABLE_NUMBER,
	TABLE_NAME, /* what the row is about */
	TABLE_WORD,
	TABLE_DIM,
};

struct table_column {
	const char *head;
	enum table_kind kind;
};

struct table {
	struct style style;
	const struct table_column *column;
	unsigned n;
	VEC(const char *) cell;
	VEC(bool) warn; /* by row */
	struct arena arena;
};

void table_begin(struct table *x, const struct table_column *column,
		 unsigned n, FILE *to);
/* control bytes of names are shown as %NN */
void table_text(struct table *x, const char *s);
/* "unknown" if it is not known */
void table_number(struct table *x, bool known, uint64_t n);
/* the same with "+" behind it: that many at least */
void table_least(struct table *x, bool known, uint64_t n, bool least);
/* nothing if it is not known */
void table_share(struct table *x, bool known, uint64_t n, uint64_t of);
/* "-" if it is not known */
void table_address(struct table *x, bool known, uint64_t addr);
/* warn: something is not known in it */
void table_end_row(struct table *x, bool warn);
void table_print(struct table *x);

#endif
