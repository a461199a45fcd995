/*
 * loop: see loop.h. Loops are found from the inside out, entries by falling
 * preorder number (Tarjan '74, "Testing flow graph reducibility"; Havlak
 * '97). A finished loop shrinks to its entry by union-find, so that no edge
 * is looked at by more than one loop and the whole takes O(E log V).
 */
#include "flow/loop.h"

#include "flow/tree.h"

struct loop_work {
	const struct graph *g;
	const struct dfs *d;
	struct loops *l;
	uint32_t *into;    /* sets: v shrank into the entry unite_find() */
	uint32_t *loop_at; /* the loop whose entry v is, or GRAPH_NONE */
	uint32_t *parent;  /* the loop around loop l */
	VEC(uint32_t) todo;
};

/* u, or the finished loop around it, belongs to the loop of entry h */
static void loop_swallow(struct loop_work *k, uint32_t h, uint32_t u)
{
	u = unite_find(k->into, u);
	if (u == h)
		return;
	k->into[u] = h;
	vec_push(&k->todo, u);
}

/* swallows whatever leads to x, a member of the loop x0 of entry h */
static void loop_follow(struct loop_work *k, uint32_t x0, uint32_t h,
			uint32_t x)
{
	for_each_edge_in (e, k->g, x) {
		uint32_t u = k->g->from[e];

		if (e == k->g->closing || !dfs_reached(k->d, u))
			continue;
		if (dfs_is_above(k->d, h, u))
			loop_swallow(k, h, u);
		else
			k->l->irreducible[x0] = true;
	}
}

/* makes the loop of entry h, if a back edge arrives there */
static void loop_try_entry(struct loop_work *k, uint32_t h)
{
	struct loops *l = k->l;
	uint32_t x0 = l->n;
	bool any = false;

	for_each_edge_in (e, k->g, h)
		if (dfs_is_back(k->g, k->d, e)) {
			loop_swallow(k, h, k->g->from[e]);
			any = true;
		}
	if (!any)
		return;
	l->entry[l->n++] = h;
	l->of[h] = k->loop_at[h] = x0;
	while (k->todo.n) {
		uint32_t x = k->todo.at[--k->todo.n];

		if (k->loop_at[x] == GRAPH_NONE)
			l->of[x] = x0;
		else
			k->parent[k->loop_at[x]] = x0;
		loop_follow(k, x0, h, x);
	}
}

/*
 * exits[] and leaves[]: an edge leaves every loop from of[u] up to, but not
 * with, the first that holds v too. Counted as +1 and -1 at the two ends of
 * that chain and summed from the inside out, so that deep nests cost no more
 * than flat ones.
 */
static void loop_count_exits(const struct graph *g, const struct dfs *d,
			     struct loops *l)
{
	for (uint32_t e = 0; e < g->closing; e++) {
		uint32_t u = g->from[e], x, y;

		if (!dfs_reached(d, u) || l->of[u] == GRAPH_NONE)
			continue;
		x = l->of[u];
		y = ladder_meet(&l->nest, x, l->of[g->to[e]]);
		l->leaves[e] = y != x;
		l->exits[x]++;
		if (y != GRAPH_NONE)
			l->exits[y]--;
	}
	for (uint32_t x = 0; x < l->n; x++)
		if (l->nest.parent[x] != GRAPH_NONE)
			l->exits[l->nest.parent[x]] += l->exits[x];
}

void loop_find(struct arena *a, const struct graph *g, const struct dfs *d,
	       struct loops *l)
{
	struct arena scratch = {0};
	struct loop_work k = {.g = g, .d = d, .l = l};

	*l = (struct loops){
		.entry = ARENA_ARRAY(a, uint32_t, d->n),
		.irreducible = ARENA_ARRAY(a, bool, d->n),
		.of = graph_nones(a, g->nv),
	};
	k.into = graph_identity(&scratch, g->nv);
	k.loop_at = graph_nones(&scratch, g->nv);
	k.parent = graph_nones(&scratch, d->n);
	for (uint32_t i = d->n; i-- > 0;)
		loop_try_entry(&k, d->order[i]);
	ladder_init(a, &l->nest, l->n);
	for (uint32_t x = l->n; x-- > 0;)
		ladder_add(&l->nest, x, k.parent[x]);
	l->exits = ARENA_ARRAY(a, uint32_t, l->n);
	l->leaves = ARENA_ARRAY(a, bool, g->ne);
	loop_count_exits(g, d, l);
	vec_free(&k.todo);
	arena_free(&scratch);
}

bool loop_contains(const struct loops *l, uint32_t x, uint32_t v)
{
	uint32_t y = l->of[v];

	return y != GRAPH_NONE && l->nest.depth[y] >= l->nest.depth[x] &&
	       ladder_climb(&l->nest, y, l->nest.depth[x]) == x;
}
