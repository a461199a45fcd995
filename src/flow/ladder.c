/* ladder: see ladder.h. */
#include "flow/ladder.h"

void ladder_init(struct arena *a, struct ladder *l, uint32_t n)
{
	l->parent = ARENA_ARRAY(a, uint32_t, n);
	l->rung = ARENA_ARRAY(a, uint32_t, n);
	l->depth = ARENA_ARRAY(a, uint32_t, n);
}

void ladder_add(struct ladder *l, uint32_t v, uint32_t parent)
{
	uint32_t r;

	l->parent[v] = parent;
	l->rung[v] = v;
	l->depth[v] = 0;
	if (parent == GRAPH_NONE)
		return;
	l->depth[v] = l->depth[parent] + 1;
	/* two rungs of one length above the parent: join them to a longer */
	r = l->rung[parent];
	if (l->depth[parent] - l->depth[r] ==
	    l->depth[r] - l->depth[l->rung[r]])
		l->rung[v] = l->rung[r];
	else
		l->rung[v] = parent;
}

uint32_t ladder_climb(const struct ladder *l, uint32_t v, uint32_t depth)
{
	while (l->depth[v] > depth)
		v = l->depth[l->rung[v]] >= depth ? l->rung[v] : l->parent[v];
	return v;
}

uint32_t ladder_meet(const struct ladder *l, uint32_t u, uint32_t v)
{
	if (u == GRAPH_NONE || v == GRAPH_NONE)
		return GRAPH_NONE;
	if (l->depth[u] > l->depth[v])
		u = ladder_climb(l, u, l->depth[v]);
	else
		v = ladder_climb(l, v, l->depth[u]);
	/* at equal depths the rungs have equal lengths */
	while (u != v) {
		bool apart = l->rung[u] != l->rung[v];
		bool roots = l->depth[u] == 0;

		if (roots)
			return GRAPH_NONE;
		u = apart ? l->rung[u] : l->parent[u];
		v = apart ? l->rung[v] : l->parent[v];
	}
	return u;
}
