/* callees: see callees.h. */
#include "count/callees.h"

void callees_gather(struct callees *c, const struct map *m)
{
	*c = (struct callees){0};
	for (size_t i = 0; i < m->edge.n; i++)
		if (m->edge.at[i].callee)
			dict_put(&c->is, m->edge.at[i].callee, 1);
}

bool callees_has(const struct callees *c, uint64_t address)
{
	return dict_get(&c->is, address) != DICT_NONE;
}

void callees_free(struct callees *c)
{
	dict_free(&c->is);
}
