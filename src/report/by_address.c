/* by_address: see by_address.h. */
#include "report/by_address.h"

struct at {
	uint64_t start;
	uint32_t number;
};

static int by_start(const void *a, const void *b)
{
	const struct at *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

uint32_t *blocks_by_address(const struct map *m)
{
	struct at *at = NEW_ARRAY(struct at, m->block.n + 1);
	uint32_t *number = NEW_ARRAY(uint32_t, m->block.n + 1);

	for (uint32_t i = 0; i < m->block.n; i++)
		at[i] = (struct at){m->block.at[i].start, i};
	mem_sort(at, m->block.n, sizeof *at, by_start);
	for (uint32_t i = 0; i < m->block.n; i++)
		number[i] = at[i].number;
	mem_free(at);
	return number;
}
