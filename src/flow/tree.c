/* tree: Kruskal's algorithm; see tree.h. */
#include "flow/tree.h"

#include "flow/sort.h"

/* union-find: the representative of v's part, path halved */
static uint32_t tree_part(uint32_t *part, uint32_t v)
{
	while (part[v] != v) {
		part[v] = part[part[v]];
		v = part[v];
	}
	return v;
}

/* takes e into the tree if it joins two parts; returns whether it did */
static bool tree_join(const struct graph *g, struct tree *t, uint32_t *part,
		      uint32_t e)
{
	uint32_t u = tree_part(part, g->from[e]);
	uint32_t v = tree_part(part, g->to[e]);

	if (u == v)
		return false;
	part[u] = v;
	t->in[e] = true;
	return true;
}

void tree_span(struct arena *a, const struct graph *g, const double *weight,
	       const uint8_t *rule, struct tree *t)
{
	struct arena scratch = {0};
	uint32_t *part = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	uint32_t *edge = ARENA_ARRAY(&scratch, uint32_t, g->ne);
	uint32_t n = 0;

	*t = (struct tree){.in = ARENA_ARRAY(a, bool, g->ne)};
	for (uint32_t v = 0; v < g->nv; v++)
		part[v] = v;
	if (!rule || rule[g->closing] != TREE_NEVER)
		tree_join(g, t, part, g->closing);
	for (uint32_t e = 0; e < g->closing; e++) {
		if (!rule || rule[e] == TREE_FREE)
			edge[n++] = e;
		else if (rule[e] == TREE_MUST && !tree_join(g, t, part, e))
			t->blind++;
	}
	sort_falling(weight, edge, n);
	for (uint32_t i = 0; i < n; i++)
		tree_join(g, t, part, edge[i]);
	arena_free(&scratch);
}
