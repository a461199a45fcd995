/* table: see table.h. */
#include "cmd/render/table.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/render/figures.h"
#include "base/name.h"

enum {
	GAP = 2, /* blanks between columns */
	WIDEST = 48, /* of words; longer ones push aside what follows */
};

/* shares of all from which on something ran much, and most */
static const double warm = 0.02, hot = 0.1;

enum table_look table_heat(bool known, uint64_t n, uint64_t of)
{
	double share = (double)n / (double)of;

	if (!known)
		return LOOK_UNKNOWN;
	if (!n)
		return LOOK_COLD;
	return share >= hot ? LOOK_HOT : share >= warm ? LOOK_WARM :
							 LOOK_PLAIN;
}

void table_begin(struct table *x, const struct table_column *column,
		 unsigned n, FILE *to)
{
	*x = (struct table){.style = style_for(to), .column = column, .n = n};
}

static void add(struct table *x, const char *s, size_t n)
{
	vec_push(&x->cell, arena_string(&x->arena, s, n));
}

/* what the row above says as well is kept once: names come many times */
static bool add_above(struct table *x, const char *s)
{
	const char *above = x->cell.n < x->n ? NULL :
			    x->cell.at[x->cell.n - x->n];

	if (!above || strcmp(above, s))
		return false;
	vec_push(&x->cell, above);
	return true;
}

void table_text(struct table *x, const char *s)
{
	char *text;

	if (add_above(x, s))
		return;
	text = name_text(s, "");
	add(x, text, strlen(text));
	mem_free(text);
}

void table_number(struct table *x, bool known, uint64_t n)
{
	table_least(x, known, n, false);
}

void table_least(struct table *x, bool known, uint64_t n, bool least)
{
	char buf[FIGURE_WIDTH + 1] = "unknown";

	if (known)
		figures_number(n, buf);
	if (known && least)
		strcat(buf, "+");
	add(x, buf, strlen(buf));
}

void table_share(struct table *x, bool known, uint64_t n, uint64_t of)
{
	char buf[32] = "";

	if (known && of)
		snprintf(buf, sizeof buf, "%.2f%%",
			 100.0 * (double)n / (double)of);
	add(x, buf, strlen(buf));
}

void table_change(struct table *x, bool known, uint64_t from, uint64_t to)
{
	char buf[FIGURE_WIDTH + 1] = "unknown";

	if (known) {
		buf[0] = from < to ? '+' : from > to ? '-' : '\0';
		if (*buf)
			figures_number(from < to ? to - from : from - to,
				       buf + 1);
	}
	add(x, buf, strlen(buf));
}

/* 1234567.891 as "1,234,567.89" */
void table_real(struct table *x, double n, const char *unit)
{
	char digits[400], buf[600], *out = buf;
	int whole = snprintf(digits, sizeof digits, "%.2f", n) - 3;

	for (int i = 0; digits[i]; i++) {
		if (i && i < whole && (whole - i) % 3 == 0 &&
		    digits[i - 1] != '-')
			*out++ = ',';
		*out++ = digits[i];
	}
	strcpy(out, unit);
	add(x, buf, strlen(buf));
}

void table_address(struct table *x, bool known, uint64_t addr)
{
	char buf[32] = "-";

	if (known)
		snprintf(buf, sizeof buf, "%#" PRIx64, addr);
	add(x, buf, strlen(buf));
}

void table_end_row(struct table *x, enum table_look look)
{
	vec_push(&x->look, look);
}

/* characters, not bytes: names may be in UTF-8 */
static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void widen(const struct table *x, unsigned column, const char *s,
		  int *width)
{
	int n = width_of(s);

	if (n > width[column] &&
	    (n <= WIDEST || x->column[column].kind == TABLE_NUMBER))
		width[column] = n;
}

static const char *look_of_number(const struct style *s, enum table_look look)
{
	switch (look) {
	case LOOK_UNKNOWN:
		return s->warn;
	case LOOK_COLD:
		return s->dim;
	case LOOK_WARM:
		return s->warm;
	case LOOK_HOT:
		return s->hot;
	case LOOK_GOOD:
		return s->good;
	default:
		return "";
	}
}

static const char *look_of(const struct table *x, unsigned column,
			   enum table_look look)
{
	switch (x->column[column].kind) {
	case TABLE_NUMBER:
		return look_of_number(&x->style, look);
	case TABLE_NAME:
		return x->style.head;
	case TABLE_DIM:
		return x->style.dim;
	default:
		return "";
	}
}

/* tables may have millions of cells, and printf() is slow */
static void print_blanks(FILE *to, int n)
{
	for (; n > 0; n--)
		putc_unlocked(' ', to);
}

/* last: nothing follows. Lines do not end with blanks */
static void print_cell(const struct table *x, unsigned column, const char *s,
		       const char *look, int width, bool last)
{
	bool right = x->column[column].kind == TABLE_NUMBER;
	int blanks = width > width_of(s) ? width - width_of(s) : 0;

	print_blanks(x->style.to, (column ? GAP : 0) + (right ? blanks : 0));
	fputs_unlocked(look, x->style.to);
	fputs_unlocked(s, x->style.to);
	if (*look)
		fputs_unlocked(x->style.off, x->style.to);
	print_blanks(x->style.to, right || last ? 0 : blanks);
}

/* how many cells of a row are worth printing */
static unsigned filled(const struct table *x, const char *const *cell)
{
	unsigned n = x->n;

	while (n && !*cell[n - 1])
		n--;
	return n;
}

static void print_row(const struct table *x, size_t row, const int *width)
{
	const char *const *cell = &x->cell.at[row * x->n];
	unsigned n = filled(x, cell);

	for (unsigned i = 0; i < n; i++)
		print_cell(x, i, cell[i], look_of(x, i, x->look.at[row]),
			   width[i], i + 1 == n);
	putc('\n', x->style.to);
}

void table_print(struct table *x)
{
	int *width = NEW_ARRAY(int, x->n);

	for (unsigned i = 0; i < x->n; i++)
		widen(x, i, x->column[i].head, width);
	for (size_t i = 0; i < x->cell.n; i++)
		widen(x, (unsigned)(i % x->n), x->cell.at[i], width);
	for (unsigned i = 0; i < x->n; i++)
		print_cell(x, i, x->column[i].head, x->style.dim, width[i],
			   i + 1 == x->n);
	putc('\n', x->style.to);
	for (size_t i = 0; i < x->look.n; i++)
		print_row(x, i, width);
	mem_free(width);
	vec_free(&x->cell);
	vec_free(&x->look);
	arena_free(&x->arena);
}
