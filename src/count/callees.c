/* callees: see callees.h. */
#include "count/callees.h"

void callees_gather(struct callees *c, const struct map *m)
{
	*c = (struct callees){0};
	for (size_t i = 0; i < m->edge.n; i++)
		if (m->edge.at[i].callee)
			vec_push(&c->v, m->edge.at[i].callee);
	callees_sort(c);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void callees_sort(struct callees *c)
{
	size_t n = 0;

	mem_sort(c->v.at, c->v.n, sizeof *c->v.at, ascending);
	for (size_t i = 0; i < c->v.n; i++)
		if (!n || c->v.at[i] != c->v.at[n - 1])
			c->v.at[n++] = c->v.at[i];
	c->v.n = n;
}

bool callees_has(const struct callees *c, uint64_t address)
{
	size_t i;

	bisect(i, c->v.n, c->v.at[i] < address);
	return i < c->v.n && c->v.at[i] == address;
}

void callees_free(struct callees *c)
{
	vec_free(&c->v);
}
