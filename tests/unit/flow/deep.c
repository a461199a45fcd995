/*
 * flow/deep: shapes that break recursion and quadratic bucket indexes. A chain,
 * a nest of loops with a way out of all of them, a comb of crossing jumps:
 * every pass must survive them and still be right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "flow/dom.h"
#include "flow/equiv.h"
#include "flow/event.h"
#include "flow/propagate.h"
#include "flow/regen.h"
#include "flow/weight.h"
#include "random_cfg.h"

enum { CHAIN = 1000000, NEST = 100000, COMB = 200000 };

/* fewer where fewer random graphs are wanted: in emulators */
static uint32_t scaled(uint32_t n)
{
	uint32_t m = random_cfg_tries(n);

	return m < n / 10 ? n / 10 : m < n ? m : n;
}

/* 0 -> 1 -> .. -> n-1 -> exit */
static void make_chain(struct arena *a, uint32_t n, struct graph *g)
{
	struct graph_sketch s = {0};

	graph_add_vertices(&s, n + 1);
	for (uint32_t v = 0; v < n; v++)
		graph_add_edge(&s, v, v + 1);
	graph_seal(a, &s, 0, n, g);
}

/* n loops, each inside the last: heads 0 .. n-1, latches n .. 2n-1; the
   innermost can leave them all at once from every latch */
static void make_nest(struct arena *a, uint32_t n, struct graph *g)
{
	struct graph_sketch s = {0};
	uint32_t exit = graph_add_vertices(&s, 2 * n + 1) + 2 * n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t head = i, latch = 2 * n - 1 - i;

		graph_add_edge(&s, head, i + 1 < n ? i + 1 : latch);
		graph_add_edge(&s, latch, head);
		graph_add_edge(&s, latch, i ? latch + 1 : exit);
		graph_add_edge(&s, latch, exit);
	}
	graph_seal(a, &s, 0, exit, g);
}

/* a chain whose every block also jumps back and forth: irreducible */
static void make_comb(struct arena *a, uint32_t n, struct graph *g)
{
	struct graph_sketch s = {0};

	graph_add_vertices(&s, n + 1);
	for (uint32_t v = 0; v < n; v++) {
		graph_add_edge(&s, v, v + 1);
		graph_add_edge(&s, v, v + 2 <= n ? v + 2 : n);
		graph_add_edge(&s, v, v / 2);
	}
	graph_seal(a, &s, 0, n, g);
}

/* every placement reproduces the counts of a few runs */
static void check_placements(struct arena *a, const struct graph *g,
			     const struct weights *w)
{
	struct rng r = {12};
	struct tallied t;

	tallied_init(a, g, &t);
	for (int i = 0; i < 3; i++)
		tallied_run(&r, g, 2000000, false, &t);
	for (enum place_kind kind = 0; kind <= PLACE_REDUNDANT; kind++) {
		struct placement p;
		struct propagation f;
		uint64_t *value;

		place_counters(a, g, w, NULL, kind, &p);
		value = tallied_read(a, &t, p.at, p.n, place_on_vertices(kind));
		propagate_counts(a, g, &p, value,
				 &(struct propagate_flows){t.death, t.birth},
				 &f);
		assert_true(f.consistent);
		for (uint32_t v = 0; v < g->nv; v++)
			if (f.vertex_known[v])
				assert_int_equal(f.vertex[v], t.vertex[v]);
			else
				assert_true(g->is_virtual[v]);
	}
}

/* runs every pass over g */
static void run_all(struct arena *a, const struct graph *g)
{
	struct weights w;
	struct witnesses x;
	struct regen r = {0};
	struct dfs d;
	struct dom m;
	struct tree t;
	struct event_plan ev;
	struct equiv q;

	weight_guess(a, g, NULL, &w);
	for (uint32_t e = 0; e < g->ne; e++)
		assert_true(isfinite(w.edge[e]) && w.edge[e] >= 0);
	check_placements(a, g, &w);
	dfs_search(a, g, &d);
	dom_find(a, g, &d, &m);
	dom_number(a, g, &d, &m);
	assert_true(dom_dominates(&m, g->root, g->exit));
	tree_span(a, g, w.edge, NULL, &t);
	event_place(a, g, &t, NULL, NULL, NULL, &ev);
	assert_int_equal(ev.n, 0);
	witness_place_blocking(a, g, w.edge, NULL, NULL, &x);
	regen_add(a, &r, g, x.on, NULL);
	regen_add(a, &r, g, NULL, bits_place(a, g));
	regen_free(&r);
	equiv_find(a, g, &q);
	assert_int_equal(q.nways, 0);
}

static void test_chain(void **state)
{
	struct arena a = {0};
	struct graph g;
	struct equiv q;

	(void)state;
	make_chain(&a, scaled(CHAIN), &g);
	run_all(&a, &g);
	equiv_find(&a, &g, &q);
	assert_int_equal(q.n, 1); /* all runs equally often */
	arena_free(&a);
}

static void test_nest(void **state)
{
	struct arena a = {0};
	struct graph g;
	struct dfs d;
	struct loops l;
	uint32_t nest = scaled(NEST);

	(void)state;
	make_nest(&a, nest, &g);
	run_all(&a, &g);
	dfs_search(&a, &g, &d);
	loop_find(&a, &g, &d, &l);
	assert_int_equal(l.n, nest);
	assert_int_equal(l.entry[0], nest - 1);
	assert_int_equal(l.nest.depth[0], nest - 1);
	assert_int_equal(l.exits[0], 2);
	/* the outermost: one jump from each latch, and its own end */
	assert_int_equal(l.exits[nest - 1], nest + 1);
	arena_free(&a);
}

static void test_comb(void **state)
{
	struct arena a = {0};
	struct graph g;

	(void)state;
	make_comb(&a, scaled(COMB), &g);
	run_all(&a, &g);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_nest),
		cmocka_unit_test(test_comb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
