/*
 * flow/vectors: the worked example of the papers, to the digit. POPL '92,
 * Figures 1 and 3, and Fig. 1 of the event paper:
 *
 *	while P { if Q A else B; if R break; C }
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/regen.h"
#include "flow/event.h"
#include "flow/place.h"
#include "flow/propagate.h"
#include "flow/witness.h"

enum { P, Q, A, B, R, C, EXIT, BLOCKS };
enum { P_Q, P_EXIT, Q_A, Q_B, A_R, B_R, R_C, R_EXIT, C_P, EXIT_P, EDGES };

static const uint32_t from[] = {P, P, Q, Q, A, B, R, R, C};
static const uint32_t to[] = {Q, EXIT, A, B, R, R, C, EXIT, P};

/* the example; with `real_exit`, EXIT is code and a virtual exit follows it */
static void make_example(struct arena *a, bool real_exit, struct graph *g)
{
	struct graph_sketch s = {0};

	graph_add_vertices(&s, BLOCKS + real_exit);
	for (uint32_t e = 0; e < EXIT_P; e++)
		graph_add_edge(&s, from[e], to[e]);
	if (real_exit)
		graph_add_edge(&s, EXIT, BLOCKS);
	graph_seal(a, &s, P, EXIT + real_exit, g);
}

static double sum_edges(const struct weights *w, const uint32_t *e, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += w->edge[e[i]];
	return sum;
}

static void test_weights(void **state)
{
	static const double expect[EDGES] = {10.5, 0.5, 5.25, 5.25, 5.25,
					     5.25, 10,  0.5,  10,   1};
	static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct arena a = {0};
	struct graph g;
	struct weights w;

	(void)state;
	make_example(&a, false, &g);
	assert_int_equal(g.ne, EDGES);
	assert_int_equal(g.closing, EXIT_P);
	weight_guess(&a, &g, NULL, &w);
	for (uint32_t e = 0; e < EDGES; e++)
		assert_true(w.edge[e] == expect[e]);
	assert_true(sum_edges(&w, all, EDGES) == 53.5);
	assert_true(w.vertex[P] == 11 && w.vertex[EXIT] == 1);
	arena_free(&a);
}

/* Q leads to A three times as often as to B; all else is as it was */
static void test_likely(void **state)
{
	static const double expect[EDGES] = {10.5,  0.5, 7.875, 2.625, 7.875,
					     2.625, 10,  0.5,   10,    1};
	double likely[EDGES] = {1, 1, 1.5, 0.5, 1, 1, 1, 1, 1, 1};
	struct arena a = {0};
	struct graph g;
	struct weights w;

	(void)state;
	make_example(&a, false, &g);
	weight_guess(&a, &g, likely, &w);
	for (uint32_t e = 0; e < EDGES; e++)
		assert_true(w.edge[e] == expect[e]);
	arena_free(&a);
}

static void test_edge_placement(void **state)
{
	static const uint32_t case_a[] = {P_Q, Q_A, P_EXIT, R_EXIT};
	struct arena a = {0};
	struct graph g;
	struct weights w;
	struct tree t;
	struct placement p;
	double in_tree = 0;

	(void)state;
	make_example(&a, false, &g);
	weight_guess(&a, &g, NULL, &w);
	tree_span(&a, &g, w.edge, NULL, &t);
	for (uint32_t e = 0; e < g.ne; e++)
		in_tree += t.in[e] ? w.edge[e] : 0;
	assert_true(in_tree == 42);
	assert_true(t.in[EXIT_P]);
	place_counters(&a, &g, &w, NULL, PLACE_EDGES, &p);
	assert_true(p.cost == 11.5);
	assert_int_equal(p.n, EDGES - (BLOCKS - 1));
	assert_true(sum_edges(&w, case_a, 4) == 16.75);
	/* while and if only, but for one break: nothing can be spared */
	place_counters(&a, &g, &w, NULL, PLACE_VERTEX_EDGES, &p);
	assert_true(p.cost == 11.5);
	arena_free(&a);
}

/*
 * {A, B, C, EXIT} at 21.5 needs a counter in EXIT, which the figure allows.
 * Where EXIT is virtual, its place is taken by P: 31.5.
 */
static void test_vertex_placement(void **state)
{
	static const uint32_t figure[] = {A, B, C, EXIT};
	static const uint32_t ours[] = {P, A, B, C};
	struct arena a = {0};
	struct graph g;
	struct weights w;
	struct placement p;

	(void)state;
	make_example(&a, true, &g);
	weight_guess(&a, &g, NULL, &w);
	place_counters(&a, &g, &w, NULL, PLACE_VERTICES, &p);
	assert_true(p.cost == 21.5);
	assert_int_equal(p.n, 4);
	assert_memory_equal(p.at, figure, sizeof figure);
	make_example(&a, false, &g);
	weight_guess(&a, &g, NULL, &w);
	place_counters(&a, &g, &w, NULL, PLACE_VERTICES, &p);
	assert_true(p.cost == 31.5);
	assert_int_equal(p.n, 4);
	assert_memory_equal(p.at, ours, sizeof ours);
	arena_free(&a);
}

/* Figure 3 (a): the counts of a run follow from the measured four */
static void test_figure_3(void **state)
{
	/* P Q A R C P Q B R C P Q A R EXIT */
	static const uint64_t expect[EDGES] = {3, 0, 2, 1, 2, 1, 2, 1, 2, 1};
	struct arena a = {0};
	struct graph g;
	struct placement p = {.kind = PLACE_EDGES,
			      .n = 4,
			      .at = (uint32_t[]){P_Q, P_EXIT, Q_A, R_EXIT}};
	struct propagation r;

	(void)state;
	make_example(&a, false, &g);
	propagate_counts(&a, &g, &p, (uint64_t[]){3, 0, 2, 1}, NULL, &r);
	assert_true(r.consistent);
	for (uint32_t e = 0; e < EDGES; e++) {
		assert_true(r.edge_known[e]);
		assert_int_equal(r.edge[e], expect[e]);
	}
	assert_int_equal(r.vertex[R], 3);
	arena_free(&a);
}

/* the tree whose chords are w, x, y, z of the event paper */
static void make_event_tree(struct arena *a, const struct graph *g,
			    struct tree *t)
{
	static const uint32_t chord[] = {P_EXIT, Q_A, Q_B, R_EXIT};

	*t = (struct tree){.in = ARENA_ARRAY(a, bool, g->ne)};
	memset(t->in, true, g->ne);
	for (int i = 0; i < 4; i++)
		t->in[chord[i]] = false;
}

/* events as symbols: one event in one vertex at a time gives a coefficient */
static void test_event_increments(void **state)
{
	/*                                P  Q  A  B  R  C  EXIT */
	static const int64_t w[BLOCKS] = {1, 0, 0, 0, 0, 0, 1};
	static const int64_t x[BLOCKS] = {1, 1, 1, 0, 1, 1, 0};
	static const int64_t y[BLOCKS] = {1, 1, 0, 1, 1, 1, 0};
	static const int64_t z[BLOCKS] = {0, 0, 0, 0, 0, -1, 1};
	static const int64_t query_b[BLOCKS] = {0, 0, 0, 0, -1, -1, 0};
	struct arena a = {0};
	struct graph g;
	struct tree t;

	(void)state;
	make_example(&a, false, &g);
	make_event_tree(&a, &g, &t);
	for (uint32_t v = 0; v < BLOCKS; v++) {
		int64_t events[BLOCKS] = {0};
		struct event_plan ev;

		events[v] = 1;
		event_place(&a, &g, &t, events, NULL, NULL, &ev);
		assert_int_equal(ev.increment[P_EXIT], w[v]);
		assert_int_equal(ev.increment[Q_A], x[v]);
		assert_int_equal(ev.increment[Q_B], y[v]);
		assert_int_equal(ev.increment[R_EXIT], z[v]);
		assert_int_equal(ev.query_end[B], query_b[v]);
		assert_int_equal(ev.n, (w[v] != 0) + (x[v] != 0) + (y[v] != 0) +
					       (z[v] != 0));
	}
	arena_free(&a);
}

/* the example's witnesses cost no more than its counters */
static void test_witnesses(void **state)
{
	struct arena a = {0};
	struct graph g;
	struct weights w;
	struct witnesses x;

	(void)state;
	make_example(&a, false, &g);
	weight_guess(&a, &g, NULL, &w);
	witness_place(&a, &g, w.edge, NULL, &x);
	assert_int_equal(x.n, (EDGES - 1) - (BLOCKS - 1));
	assert_true(x.cost == 11);
	arena_free(&a);
}

/* ceil(log2 k) bits for k ways, by a switch of every width */
static void test_bits(void **state)
{
	static const uint8_t expect[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};

	(void)state;
	for (uint32_t k = 1; k < sizeof expect; k++) {
		struct arena a = {0};
		struct graph_sketch s = {0};
		struct graph g;

		graph_add_vertices(&s, k + 2);
		for (uint32_t i = 0; i < k; i++)
			graph_add_edge(&s, 0, 1 + i);
		for (uint32_t i = 0; i < k; i++)
			graph_add_edge(&s, 1 + i, k + 1);
		graph_seal(&a, &s, 0, k + 1, &g);
		assert_int_equal(bits_place(&a, &g)[0], expect[k]);
		assert_int_equal(bits_place(&a, &g)[1], 0);
		for (uint32_t i = 0; i < k; i++)
			assert_int_equal(bits_code(&g, i), i);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_likely),
		cmocka_unit_test(test_edge_placement),
		cmocka_unit_test(test_vertex_placement),
		cmocka_unit_test(test_figure_3),
		cmocka_unit_test(test_event_increments),
		cmocka_unit_test(test_witnesses),
		cmocka_unit_test(test_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
