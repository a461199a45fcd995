/* tree: Kruskal's algorithm; see tree.h. */
#include "flow/tree.h"

#include "flow/sort.h"

/* takes e into the tree if it joins two parts; returns whether it did */
static bool tree_join(const struct graph *g, struct tree *t, uint32_t *part,
		      uint32_t e)
{
	uint32_t u = unite_find(part, g->from[e]);
	uint32_t v = unite_find(part, g->to[e]);

	if (u == v)
		return false;
	part[u] = v;
	t->in[e] = true;
	return true;
}

/* joins all edges with this rule, by number; returns how many stay outside */
static uint32_t tree_join_all(const struct graph *g, struct tree *t,
			      uint32_t *part, const uint8_t *rule,
			      enum tree_rule which)
{
	uint32_t outside = 0;

	for (uint32_t e = 0; rule && e < g->closing; e++)
		outside += rule[e] == which && !tree_join(g, t, part, e);
	return outside;
}

/* the free edges, heaviest first; returns how many there are */
static uint32_t tree_sort_free(const struct graph *g, const double *weight,
			       const uint8_t *rule, uint32_t *edge)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < g->closing; e++)
		if (!rule || rule[e] == TREE_FREE)
			edge[n++] = e;
	sort_falling(weight, edge, n);
	return n;
}

void tree_span(struct arena *a, const struct graph *g, const double *weight,
	       const uint8_t *rule, struct tree *t)
{
	struct arena scratch = {0};
	uint32_t *part = graph_identity(&scratch, g->nv);
	uint32_t *edge = ARENA_ARRAY(&scratch, uint32_t, g->ne);
	uint32_t n = tree_sort_free(g, weight, rule, edge);

	*t = (struct tree){.in = ARENA_ARRAY(a, bool, g->ne)};
	if (!rule || rule[g->closing] != TREE_NEVER)
		tree_join(g, t, part, g->closing);
	tree_join_all(g, t, part, rule, TREE_SEED);
	t->blind = tree_join_all(g, t, part, rule, TREE_MUST);
	for (uint32_t i = 0; i < n; i++)
		tree_join(g, t, part, edge[i]);
	arena_free(&scratch);
}
