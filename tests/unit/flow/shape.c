/*
 * flow/shape: dominators, loops, strongly connected components and weights
 * against their definitions, each decided by plain reachability.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "flow/dom.h"
#include "flow/dfs.h"
#include "flow/weight.h"
#include "random_cfg.h"

/* marks what v reaches without entering `without` */
static void flood(const struct graph *g, uint32_t v, uint32_t without,
		  bool *reached)
{
	bool moved = true;

	memset(reached, 0, g->nv);
	if (v == without)
		return;
	reached[v] = true;
	while (moved) {
		moved = false;
		for (uint32_t e = 0; e < g->closing; e++)
			if (reached[g->from[e]] && !reached[g->to[e]] &&
			    g->to[e] != without)
				moved = reached[g->to[e]] = true;
	}
}

/* u dominates v iff v is reached, but not without u */
static void check_dominators(struct arena *a, const struct graph *g,
			     const struct dfs *d)
{
	bool *all = ARENA_ARRAY(a, bool, g->nv);
	bool *some = ARENA_ARRAY(a, bool, g->nv);
	struct dom m;

	dom_find(a, g, d, &m);
	dom_number(a, g, d, &m);
	flood(g, g->root, GRAPH_NONE, all);
	for (uint32_t u = 0; u < g->nv; u++) {
		assert_int_equal(dfs_reached(d, u), all[u]);
		flood(g, g->root, u, some);
		for (uint32_t v = 0; v < g->nv; v++)
			assert_int_equal(dom_dominates(&m, u, v),
					 all[u] && all[v] && !some[v]);
		if (m.idom[u] != GRAPH_NONE)
			assert_true(dom_dominates(&m, m.idom[u], u));
	}
}

/* same component iff each reaches the other; numbers fall along edges */
static void check_components(struct arena *a, const struct graph *g,
			     const struct dfs *d)
{
	uint32_t *of = ARENA_ARRAY(a, uint32_t, g->nv);
	bool *there = ARENA_ARRAY(a, bool, g->nv);
	bool *back = ARENA_ARRAY(a, bool, g->nv);

	scc_find(g, d, of);
	for (uint32_t u = 0; u < g->nv; u++) {
		if (!dfs_reached(d, u)) {
			assert_int_equal(of[u], GRAPH_NONE);
			continue;
		}
		flood(g, u, GRAPH_NONE, there);
		for (uint32_t v = 0; v < g->nv; v++) {
			if (!there[v])
				continue;
			flood(g, v, GRAPH_NONE, back);
			assert_int_equal(of[u] == of[v], back[u]);
			assert_true(of[u] >= of[v]);
		}
	}
}

/* whether v is in the natural loop of entry h: v reaches a back edge's source
   without passing h */
static bool in_natural_loop(const struct graph *g, const struct dfs *d,
			    uint32_t h, uint32_t v, bool *reached)
{
	if (v == h)
		return true;
	flood(g, v, h, reached);
	for_each_edge_in (e, g, h)
		if (dfs_is_back(g, d, e) && reached[g->from[e]])
			return true;
	return false;
}

/* in reducible graphs the loops are the natural ones, exits included */
static void check_loops(struct arena *a, const struct graph *g,
			const struct dfs *d)
{
	struct loops l;
	struct dom m;
	bool *reached = ARENA_ARRAY(a, bool, g->nv);
	bool reducible = true;

	loop_find(a, g, d, &l);
	dom_find(a, g, d, &m);
	dom_number(a, g, d, &m);
	for (uint32_t e = 0; e < g->ne; e++)
		if (dfs_is_back(g, d, e))
			reducible &= dom_dominates(&m, g->to[e], g->from[e]);
	for (uint32_t x = 0; x < l.n; x++) {
		uint32_t exits = 0;

		if (reducible)
			assert_false(l.irreducible[x]);
		for (uint32_t v = 0; reducible && v < g->nv; v++)
			assert_int_equal(loop_contains(&l, x, v),
					 dfs_reached(d, v) &&
						 in_natural_loop(g, d,
								 l.entry[x], v,
								 reached));
		for (uint32_t e = 0; e < g->closing; e++)
			exits += loop_contains(&l, x, g->from[e]) &&
				 !loop_contains(&l, x, g->to[e]);
		assert_int_equal(l.exits[x], exits);
	}
	for (uint32_t e = 0; e < g->ne; e++) {
		uint32_t x = l.of[g->from[e]];

		assert_int_equal(l.leaves[e],
				 x != GRAPH_NONE &&
					 !loop_contains(&l, x, g->to[e]));
	}
	if (!reducible) {
		bool any = false;

		for (uint32_t x = 0; x < l.n; x++)
			any |= l.irreducible[x];
		assert_true(any);
	}
}

/* weights are finite and not negative; structured code obeys the law */
static void check_weights(struct arena *a, const struct graph *g,
			  bool structured)
{
	struct weights w;

	weight_guess(a, g, NULL, &w);
	assert_true(w.edge[g->closing] == 1);
	for (uint32_t e = 0; e < g->ne; e++)
		assert_true(isfinite(w.edge[e]) && w.edge[e] >= 0);
	for (uint32_t v = 0; structured && v < g->nv; v++) {
		double out = 0;

		for_each_edge_out (e, g, v)
			out += w.edge[e];
		assert_true(fabs(out - w.vertex[v]) <= 1e-9 * out);
		assert_true(out > 0);
	}
}

static void test_random_graphs(void **state)
{
	struct rng r = {4};
	uint32_t tries = random_cfg_tries(50000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct graph g;
		struct dfs d;

		random_cfg(&a, &r, i % CFG_SHAPES, i % 50 ? 9 : 20, &g);
		dfs_search(&a, &g, &d);
		check_dominators(&a, &g, &d);
		check_components(&a, &g, &d);
		check_loops(&a, &g, &d);
		check_weights(&a, &g, i % CFG_SHAPES == CFG_STRUCTURED);
		arena_free(&a);
	}
}

/* ladders against climbing step by step, in random forests */
static void test_ladder(void **state)
{
	struct rng r = {5};
	uint32_t tries = random_cfg_tries(2000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct ladder l;
		uint32_t n = 1 + rng_below(&r, 60), u, v, x, y;
		uint32_t reach = 1 + rng_below(&r, 20);

		ladder_init(&a, &l, n);
		for (v = 0; v < n; v++)
			ladder_add(
				&l, v,
				v == 0 || rng_once_in(&r, 30)
					? GRAPH_NONE
					: v - 1 -
						  rng_below(&r,
							    v < reach ? v
								      : reach));
		u = x = rng_below(&r, n);
		v = y = rng_below(&r, n);
		while (x != y)
			if (x == GRAPH_NONE ||
			    (y != GRAPH_NONE && l.depth[y] > l.depth[x]))
				y = l.parent[y];
			else
				x = l.parent[x];
		assert_int_equal(ladder_meet(&l, u, v), x);
		for (x = u; x != GRAPH_NONE; x = l.parent[x])
			assert_int_equal(ladder_climb(&l, u, l.depth[x]), x);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_ladder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
