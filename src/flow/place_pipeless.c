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
 * Their heuristic: look at the chords by falling weight; if the cycle that a
 * chord closes with the tree is pipeless and touches no cycle freed before,
 * its counter goes.
 *
 * Walking every cycle would be quadratic. Instead, per vertex of the hung-up
 * tree, `straight` is the highest ancestor that is reached without a pipe on
 * the way; most chords are refused by two comparisons. The rest ask a Fenwick
 * tree how many freed vertices lie between a vertex and its root. Only freed
 * cycles are walked, and these are disjoint.
 */
#include "flow/forest.h"
#include "flow/ladder.h"
#include "flow/place.h"
#include "flow/sort.h"

struct pipeless {
	const struct graph *g;
	struct forest f;
	struct ladder l;
	uint32_t *last;	    /* greatest pre[] in v's subtree */
	uint32_t *straight; /* see above */
	bool *freed;	    /* v is on a cycle without counter */
	uint32_t *fenwick;  /* over pre[]: freed vertices above */
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

/* adds x to the freed-above number of everything with pre[] >= i */
static void pipeless_add_from(struct pipeless *k, uint32_t i, uint32_t x)
{
	for (i++; i <= k->g->nv; i += i & -i)
		k->fenwick[i] += x;
}

/* v is now on a freed cycle */
static void pipeless_free_vertex(struct pipeless *k, uint32_t v)
{
	k->freed[v] = true;
	pipeless_add_from(k, k->f.pre[v], 1);
	pipeless_add_from(k, k->last[v] + 1, -1u);
}

/* how many freed vertices lie on the way from v up to its root, v included */
static uint32_t pipeless_freed_above(const struct pipeless *k, uint32_t v)
{
	uint32_t sum = 0;

	for (uint32_t i = k->f.pre[v] + 1; i; i &= i - 1)
		sum += k->fenwick[i];
	return sum;
}

/* the tree edge that the cycle through v and the far vertex uses at v */
static uint32_t pipeless_edge_at(const struct pipeless *k, uint32_t v,
				 uint32_t far)
{
	if (!pipeless_is_above(k, v, far))
		return k->f.up[v];
	return k->f.up[ladder_climb(&k->l, far, k->l.depth[v] + 1)];
}

/* whether C(e) has no pipe; requires: e is a chord, no self loop */
static bool pipeless_is_cycle(const struct pipeless *k, uint32_t e)
{
	const struct graph *g = k->g;
	uint32_t u = g->from[e], v = g->to[e], top;

	if (!pipeless_is_above(k, k->straight[u], v) ||
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

/* whether C(e) touches a cycle that was freed before */
static bool pipeless_is_touched(const struct pipeless *k, uint32_t e)
{
	uint32_t u = k->g->from[e], v = k->g->to[e];
	uint32_t top = ladder_meet(&k->l, u, v);

	return k->freed[top] ||
	       pipeless_freed_above(k, u) + pipeless_freed_above(k, v) !=
		       2 * pipeless_freed_above(k, top);
}

/* frees all vertices of C(e) */
static void pipeless_free_cycle(struct pipeless *k, uint32_t e)
{
	uint32_t u = k->g->from[e], v = k->g->to[e];
	uint32_t top = ladder_meet(&k->l, u, v);

	for (; u != top; u = k->l.parent[u])
		pipeless_free_vertex(k, u);
	for (; v != top; v = k->l.parent[v])
		pipeless_free_vertex(k, v);
	pipeless_free_vertex(k, top);
}

/* hangs up the tree and fills the tables; requires: k->g */
static void pipeless_prepare(struct arena *a, struct pipeless *k,
			     const bool *in_tree)
{
	const struct graph *g = k->g;

	forest_grow(a, g, in_tree, &k->f);
	ladder_init(a, &k->l, g->nv);
	k->last = ARENA_ARRAY(a, uint32_t, g->nv);
	k->straight = ARENA_ARRAY(a, uint32_t, g->nv);
	k->freed = ARENA_ARRAY(a, bool, g->nv);
	k->fenwick = ARENA_ARRAY(a, uint32_t, g->nv + 1);
	for (uint32_t i = 0; i < g->nv; i++) {
		uint32_t v = k->f.order[i], up = k->f.up[v];
		uint32_t p = up == GRAPH_NONE ? GRAPH_NONE
					      : forest_parent(g, &k->f, v);

		ladder_add(&k->l, v, p);
		k->last[v] = i;
		if (p == GRAPH_NONE)
			k->straight[v] = v;
		else if (k->f.up[p] != GRAPH_NONE &&
			 pipeless_turns(g, p, up, k->f.up[p]))
			k->straight[v] = k->straight[p];
		else
			k->straight[v] = p;
	}
	for (uint32_t i = g->nv; i-- > 0;) {
		uint32_t v = k->f.order[i], p = k->l.parent[v];

		if (p != GRAPH_NONE && k->last[v] > k->last[p])
			k->last[p] = k->last[v];
	}
}

/* the chords with counters, no self loops, by falling weight */
static uint32_t pipeless_sort_chords(const struct graph *g,
				     const double *weight, const bool *counted,
				     uint32_t *chord)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < g->closing; e++)
		if (counted[e] && g->from[e] != g->to[e])
			chord[n++] = e;
	sort_falling(weight, chord, n);
	return n;
}

/* clears counted[e] of spared chords; requires: counted is the chords */
void place_drop_pipeless(const struct graph *g, const double *weight,
			 const bool *in_tree, bool *counted)
{
	struct arena scratch = {0};
	struct pipeless k = {.g = g};
	uint32_t *chord = ARENA_ARRAY(&scratch, uint32_t, g->ne);
	uint32_t n = pipeless_sort_chords(g, weight, counted, chord);

	pipeless_prepare(&scratch, &k, in_tree);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = chord[i];

		if (!pipeless_is_cycle(&k, e) || pipeless_is_touched(&k, e))
			continue;
		pipeless_free_cycle(&k, e);
		counted[e] = false;
	}
	arena_free(&scratch);
}
