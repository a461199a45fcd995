/* unique: see unique.h. */
#include "report/diff/unique.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
	const struct keyed *p = a, *q = b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->item < q->item ? -1 : p->item > q->item;
}

static void sort(struct keyed_list *l)
{
	if (l->v.n)
		qsort(l->v.at, l->v.n, sizeof *l->v.at, by_key);
}

/* how many from i on have its key */
static size_t group(const struct keyed_list *l, size_t i)
{
	size_t end = i;

	while (end < l->v.n && l->v.at[end].key == l->v.at[i].key)
		end++;
	return end - i;
}

void unique_match(struct keyed_list *a, struct keyed_list *b, bool groups,
		  void (*match)(void *ctx, uint32_t x, uint32_t y), void *ctx)
{
	size_t i = 0, k = 0;

	sort(a);
	sort(b);
	while (i < a->v.n && k < b->v.n) {
		uint64_t x = a->v.at[i].key, y = b->v.at[k].key;
		size_t n = group(a, i), m = group(b, k);

		if (x == y && n == m && (n == 1 || groups))
			for (size_t g = 0; g < n; g++)
				match(ctx, a->v.at[i + g].item,
				      b->v.at[k + g].item);
		i += x <= y ? n : 0;
		k += y <= x ? m : 0;
	}
}
