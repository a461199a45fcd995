/*
 * sort: see sort.h. Sorting is the dear part of placing a million counters,
 * so it is a radix sort of the weights' bits: the bits of non-negative doubles
 * ascend as the doubles do, and their complement falls. Most procedures are
 * small, and clearing the digit counters would cost more than their edges: a
 * few items are sorted by insertion. Both ways are stable.
 */
#include "flow/sort.h"

#include <stdbool.h>

#include "base/mem.h"

enum {
	SORT_DIGIT = 11, /* bits: six passes, and the counters stay cached */
	SORT_DIGITS = 1 << SORT_DIGIT,
	SORT_FEW = 64,
};

/* the digit of x at `shift` */
static unsigned sort_digit(const struct sort_item *x, unsigned shift)
{
	return (x->key >> shift) % SORT_DIGITS;
}

/* one stable pass from x to y; false, with y unset, if all digits agree */
static bool sort_pass(const struct sort_item *x, struct sort_item *y,
		      uint32_t n, unsigned shift)
{
	uint32_t first[SORT_DIGITS + 1] = {0};

	for (uint32_t i = 0; i < n; i++)
		first[sort_digit(&x[i], shift) + 1]++;
	if (first[sort_digit(&x[0], shift) + 1] == n)
		return false;
	for (uint32_t i = 0; i < SORT_DIGITS; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < n; i++)
		y[first[sort_digit(&x[i], shift)]++] = x[i];
	return true;
}

/* radix sort; the result is in the returned one of x and y */
static struct sort_item *sort_many(struct sort_item *x, struct sort_item *y,
				   uint32_t n)
{
	for (unsigned shift = 0; shift < 64; shift += SORT_DIGIT)
		if (sort_pass(x, y, n, shift)) {
			struct sort_item *swap = x;

			x = y;
			y = swap;
		}
	return x;
}

/* insertion sort, in place */
static void sort_few(struct sort_item *x, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct sort_item item = x[i];
		uint32_t j = i;

		for (; j && x[j - 1].key > item.key; j--)
			x[j] = x[j - 1];
		x[j] = item;
	}
}

void sort_items(struct sort_item *x, uint32_t n)
{
	struct sort_item *y;

	if (n < SORT_FEW) {
		sort_few(x, n);
		return;
	}
	y = mem_alloc(n * sizeof *y);
	if (sort_many(x, y, n) == y)
		memcpy(x, y, n * sizeof *x);
	mem_free(y);
}

void sort_falling(const double *weight, uint32_t *at, uint32_t n)
{
	struct sort_item *x = mem_alloc(n * sizeof *x);

	for (uint32_t i = 0; i < n; i++) {
		memcpy(&x[i].key, &weight[at[i]], sizeof x[i].key);
		x[i].key = ~x[i].key;
		x[i].at = at[i];
	}
	sort_items(x, n);
	for (uint32_t i = 0; i < n; i++)
		at[i] = x[i].at;
	mem_free(x);
}
