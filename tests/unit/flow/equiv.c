/*
 * flow/equiv: cycle equivalence against its definition. Edge a runs without
 * edge b iff some directed cycle holds a and not b, that is iff a's end
 * reaches a's start when b is taken away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/dfs.h"
#include "flow/equiv.h"
#include "random_cfg.h"

enum { MOST_ENDS = 200, MOST_EDGES = 400 };

/* the split graph with ways out, drawn anew by the definition */
struct drawn {
	uint32_t nv, ne;
	uint32_t from[MOST_EDGES], to[MOST_EDGES];
	uint32_t class[MOST_EDGES];
};

static void draw_edge(struct drawn *x, uint32_t from, uint32_t to,
		      uint32_t class)
{
	assert_true(x->ne < MOST_EDGES);
	x->from[x->ne] = from;
	x->to[x->ne] = to;
	x->class[x->ne++] = class;
}

static void draw(const struct graph *g, const struct equiv *q, struct drawn *x)
{
	*x = (struct drawn){.nv = 2 * g->nv};
	assert_true(x->nv <= MOST_ENDS);
	for (uint32_t e = 0; e < g->ne; e++)
		if (q->edge[e] != GRAPH_NONE)
			draw_edge(x, 2 * g->from[e] + 1, 2 * g->to[e],
				  q->edge[e]);
	for (uint32_t v = 0; v < g->nv; v++)
		if (q->vertex[v] != GRAPH_NONE)
			draw_edge(x, 2 * v, 2 * v + 1, q->vertex[v]);
	for (uint32_t i = 0; i < q->nways; i++)
		draw_edge(x, 2 * q->way[i] + !graph_out_degree(g, q->way[i]),
			  2 * g->exit, GRAPH_NONE);
}

/* whether a lies on a cycle without b (b may be none) */
static bool turns_without(const struct drawn *x, uint32_t a, uint32_t b)
{
	uint32_t stack[MOST_ENDS], n = 0;
	bool seen[MOST_ENDS] = {0};

	stack[n++] = x->to[a];
	seen[x->to[a]] = true;
	while (n) {
		uint32_t v = stack[--n];

		if (v == x->from[a])
			return true;
		for (uint32_t e = 0; e < x->ne; e++)
			if (e != b && x->from[e] == v && !seen[x->to[e]]) {
				seen[x->to[e]] = true;
				stack[n++] = x->to[e];
			}
	}
	return false;
}

static void check_classes(const struct drawn *x)
{
	for (uint32_t a = 0; a < x->ne; a++) {
		/* strongly connected: everything is on a cycle */
		assert_true(turns_without(x, a, GRAPH_NONE));
		for (uint32_t b = 0; b < a; b++) {
			bool same = !turns_without(x, a, b) &&
				    !turns_without(x, b, a);

			if (x->class[a] == GRAPH_NONE ||
			    x->class[b] == GRAPH_NONE)
				continue;
			assert_int_equal(x->class[a] == x->class[b], same);
		}
	}
}

/* classes are there exactly for what can run */
static void check_reached(struct arena *a, const struct graph *g,
			  const struct equiv *q)
{
	struct dfs d;

	dfs_search(a, g, &d);
	for (uint32_t v = 0; v < g->nv; v++) {
		bool runs = dfs_reached(&d, v) || v == g->exit;

		assert_int_equal(q->vertex[v] != GRAPH_NONE, runs);
		assert_true(!runs || q->vertex[v] < q->n);
		for_each_edge_out (e, g, v)
			assert_int_equal(q->edge[e] != GRAPH_NONE, runs);
	}
}

/* members of a class ran equally often, unless births or deaths interfere */
static void check_runs(struct arena *a, struct rng *r, const struct graph *g,
		       const struct equiv *q)
{
	struct tallied t;

	tallied_init(a, g, &t);
	for (int i = 0; i < 5; i++)
		tallied_run(r, g, 10000, false, &t);
	for (uint32_t v = 0; v < g->nv; v++)
		if (t.death[v])
			return;
	for (uint32_t u = 0; u < g->nv; u++)
		for (uint32_t v = 0; v < g->nv; v++)
			if (q->vertex[u] == q->vertex[v] &&
			    q->vertex[u] != GRAPH_NONE)
				assert_int_equal(t.vertex[u], t.vertex[v]);
}

static void test_random_graphs(void **state)
{
	struct rng r = {6};
	uint32_t tries = random_cfg_tries(30000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct graph g;
		struct equiv q;
		struct drawn x;

		random_cfg(&a, &r, i % CFG_SHAPES, i % 50 ? 8 : 20, &g);
		equiv_find(&a, &g, &q);
		check_reached(&a, &g, &q);
		draw(&g, &q, &x);
		check_classes(&x);
		check_runs(&a, &r, &g, &q);
		arena_free(&a);
	}
}

/* for (;;) { a; b }: the trips are one class, apart from the entry */
static void test_infinite_loop(void **state)
{
	struct arena a = {0};
	struct graph_sketch s = {0};
	struct graph g;
	struct equiv q;

	(void)state;
	graph_add_vertices(&s, 4);
	graph_add_edge(&s, 0, 1);
	graph_add_edge(&s, 1, 2);
	graph_add_edge(&s, 2, 1);
	graph_seal(&a, &s, 0, 3, &g);
	equiv_find(&a, &g, &q);
	assert_int_equal(q.nways, 1);
	assert_int_equal(q.way[0], 1);
	assert_int_equal(q.vertex[1], q.vertex[2]);
	assert_int_equal(q.edge[1], q.edge[2]);
	assert_int_equal(q.edge[1], q.vertex[1]);
	assert_int_equal(q.vertex[0], q.edge[0]);
	assert_true(q.vertex[0] != q.vertex[1]);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_infinite_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
