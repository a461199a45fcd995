/*
 * place_pipeless: counters that block counts can do without.
 *
 * A cycle without counters leaves its edges undetermined by some amount x,
 * added along it one way and subtracted the other way. Where the two edges of
 * the cycle at a vertex both arrive or both leave, the x cancels in the sum:
 *
 *	a --> b            pipeless: every vertex is a fork (a, d) or a
 *	|     ^            join (b, c); block counts are still determined
 *	v     |            although none of the four edges is
 *	c <-- d
 *
 * So counters are correct for blocks iff the rest has no simple cycle with a
 * pipe, an arriving edge followed by a leaving one (Ball & Larus '94, 3.3).
 * Starting from a spanning tree, the counter of a chord goes if the cycle that
 * the chord closes with the tree is pipeless.
 *
 * The paper takes off fewer: it also asks that the freed cycles touch nowhere,
 * lest two of them combine to a cycle with a pipe. They cannot. All cycles
 * without counters are sums of these fundamental ones, a vertex count is a
 * linear function of the flow, and what is 0 on each summand is 0 on the sum.
 *
 * Walking every cycle would be quadratic. Instead, per vertex of the hung-up
 * tree, `straight` is the highest ancestor that is reached without a pipe on
 * the way: two comparisons tell about all vertices but the three corners, the
 * chord's ends and the top of the cycle.
 */
#include "flow/forest.h"
#include "flow/place.h"

struct pipeless {
	const struct graph *g;
	struct forest f;
	struct ladder l;
	uint32_t *last;     /* greatest pre[] in v's subtree */
	uint32_t *straight; /* see above */
};

/* whether v is a fork or a join of two edges that meet there */
static bool pipeless_turns(const struct graph *g, uint32_t v, uint32_t e,
			   uint32_t f)
{
	return (g->from[e] == v) == (g->from[f] == v);
}

/* whether u is v or above v in the tree */
static bool pipeless_is_above(const struct pipeless *k, uint32_t u, uint32_t v)
{
	return k->f.pre[u] <= k->f.pre[v] && k->f.pre[v] <= k->last[u];
}

/* the tree edge that the cycle through v and the far vertex uses at v */
static uint32_t pipeless_edge_at(const struct pipeless *k, uint32_t v,
				 uint32_t far)
{
	if (!pipeless_is_above(k, v, far))
		return k->f.up[v];
	return k->f.up[ladder_climb(&k->l, far, k->l.depth[v] + 1)];
}

/* whether C(e) has no pipe; requires: e is a chord */
static bool pipeless_is_cycle(const struct pipeless *k, uint32_t e)
{
	const struct graph *g = k->g;
	uint32_t u = g->from[e], v = g->to[e], top;

	if (u == v || !pipeless_is_above(k, k->straight[u], v) ||
	    !pipeless_is_above(k, k->straight[v], u))
		return false;
	if (!pipeless_turns(g, u, e, pipeless_edge_at(k, u, v)) ||
	    !pipeless_turns(g, v, e, pipeless_edge_at(k, v, u)))
		return false;
	top = ladder_meet(&k->l, u, v);
	return top == u || top == v ||
	       pipeless_turns(g, top, pipeless_edge_at(k, top, u),
			      pipeless_edge_at(k, top, v));
}

/* k->straight, parents first */
static void pipeless_find_straight(struct pipeless *k)
{
	for (uint32_t i = 0; i < k->g->nv; i++) {
		uint32_t v = k->f.order[i], p = k->l.parent[v];

		if (p == GRAPH_NONE)
			k->straight[v] = v;
		else if (k->f.up[p] != GRAPH_NONE &&
			 pipeless_turns(k->g, p, k->f.up[v], k->f.up[p]))
			k->straight[v] = k->straight[p];
		else
			k->straight[v] = p;
	}
}

/* k->last, children first */
static void pipeless_find_last(struct pipeless *k)
{
	memcpy(k->last, k->f.pre, k->g->nv * sizeof *k->last);
	for (uint32_t i = k->g->nv; i-- > 0;) {
		uint32_t v = k->f.order[i], p = k->l.parent[v];

		if (p != GRAPH_NONE && k->last[v] > k->last[p])
			k->last[p] = k->last[v];
	}
}

void place_drop_pipeless(const struct graph *g, const bool *in_tree,
			 bool *counted)
{
	struct arena scratch = {0};
	struct pipeless k = {
		.g = g,
		.last = ARENA_ARRAY(&scratch, uint32_t, g->nv),
		.straight = ARENA_ARRAY(&scratch, uint32_t, g->nv),
	};

	forest_grow(&scratch, g, in_tree, &k.f);
	forest_climb(&scratch, g, &k.f, &k.l);
	pipeless_find_straight(&k);
	pipeless_find_last(&k);
	for (uint32_t e = 0; e < g->ne; e++)
		if (counted[e] && pipeless_is_cycle(&k, e))
			counted[e] = false;
	arena_free(&scratch);
}
