/*
 * table: rows of cells in columns as wide as their widest cell. Numbers stand
 * to the right, words to the left, and what may be long stands last. On a
 * terminal the columns have looks; elsewhere it is the same text without.
 *
 *	table_begin(&x, columns, n, stdout);
 *	table_number(&x, true, 1234);	cells, in the order of the columns
 *	table_text(&x, "main");
 *	table_end_row(&x, LOOK_PLAIN);
 *	table_print(&x);		prints and frees
 */
#ifndef CMD_RENDER_TABLE_H
#define CMD_RENDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "cmd/render/style.h"

enum table_kind {
	TABLE_NUMBER,
	TABLE_NAME, /* what the row is about */
	TABLE_WORD,
	TABLE_DIM,
};

/* how the numbers of a row look */
enum table_look {
	LOOK_PLAIN,
	LOOK_UNKNOWN, /* something in it is not known */
	LOOK_COLD,    /* it never ran */
	LOOK_WARM,
	LOOK_HOT,
	LOOK_GOOD, /* it runs less than it did */
};

/* that of what executed n of all instructions, in every listing */
enum table_look table_heat(bool known, uint64_t n, uint64_t of);

struct table_column {
	const char *head;
	enum table_kind kind;
};

struct table {
	struct style style;
	const struct table_column *column;
	unsigned n;
	VEC(const char *) cell;
	VEC(enum table_look) look; /* by row */
	struct arena arena;
};

void table_begin(struct table *x, const struct table_column *column,
		 unsigned n, FILE *to);
/* control bytes of names are shown as %NN */
void table_text(struct table *x, const char *s);
/* "unknown" if it is not known */
void table_number(struct table *x, bool known, uint64_t n);
/* a number, with "+" behind it if it is that many at least */
void table_least(struct table *x, bool known, uint64_t n, bool least);
/* nothing if it is not known */
void table_share(struct table *x, bool known, uint64_t n, uint64_t of);
/* "+12" or "-12", or "" of none; "unknown" if it is not known */
void table_change(struct table *x, bool known, uint64_t from, uint64_t to);
/* with two digits behind the point, and what is behind them */
void table_real(struct table *x, double n, const char *unit);
/* "-" if it is not known */
void table_address(struct table *x, bool known, uint64_t addr);
void table_end_row(struct table *x, enum table_look look);
void table_print(struct table *x);

#endif
