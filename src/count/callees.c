/* callees: see callees.h. */
#include "count/callees.h"

#include <stdlib.h>

#include "base/bisect.h"

static int by_address(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static void gather(struct callees *c, struct arena *a, const struct map *m)
{
	c->v = ARENA_ARRAY(a, uint64_t, m->edge.n + 1);
	for (size_t i = 0; i < m->edge.n; i++)
		if (m->edge.at[i].callee)
			c->v[c->n++] = m->edge.at[i].callee;
	qsort(c->v, c->n, sizeof *c->v, by_address);
}

bool callees_has(struct callees *c, struct arena *a, const struct map *m,
		 uint64_t address)
{
	size_t i;

	if (!c->v)
		gather(c, a, m);
	bisect(i, c->n, c->v[i] < address);
	return i < c->n && c->v[i] == address;
}
