/*
 * flow/place: every placement must reproduce every count that it promises, on
 * random graphs and random runs, births and early deaths included; and what
 * it calls known must be exactly what linear algebra says is determined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "flow/propagate.h"
#include "linear.h"
#include "random_cfg.h"

/* connected parts, directions ignored, by plain flooding */
static uint32_t count_parts(const struct graph *g)
{
	uint32_t part[256], n = g->nv;
	bool moved = true;

	assert_true(g->nv <= 256);
	for (uint32_t v = 0; v < g->nv; v++)
		part[v] = v;
	while (moved) {
		moved = false;
		for (uint32_t e = 0; e < g->ne; e++) {
			uint32_t u = g->from[e], v = g->to[e];

			if (part[u] == part[v])
				continue;
			part[u] = part[v] =
				part[u] < part[v] ? part[u] : part[v];
			moved = true;
		}
	}
	for (uint32_t v = 0; v < g->nv; v++)
		n -= part[v] != v;
	return n;
}

/* weights: guessed, measured from the runs, or noise */
static void make_weights(struct arena *a, struct rng *r, const struct graph *g,
			 const struct tallied *t, struct weights *w)
{
	switch (rng_below(r, 3)) {
	case 0:
		weight_guess(a, g, NULL, w);
		break;
	case 1:
		weight_measured(a, g, t->edge, w);
		break;
	default:
		weight_guess(a, g, NULL, w);
		for (uint32_t e = 0; e < g->ne; e++)
			w->edge[e] = rng_below(r, 5);
	}
	for (uint32_t e = 0; e < g->ne; e++)
		assert_true(isfinite(w->edge[e]) && w->edge[e] >= 0);
}

/* what the counters would have said */
static uint64_t *read_counters(struct arena *a, const struct placement *p,
			       const struct tallied *t)
{
	return tallied_read(a, t, p->at, p->n, place_on_vertices(p->kind));
}

/* known counts are right */
static void check_counts(const struct graph *g, const struct propagation *r,
			 const struct tallied *t)
{
	assert_true(r->consistent);
	for (uint32_t e = 0; e < g->ne; e++)
		if (r->edge_known[e])
			assert_int_equal(r->edge[e], t->edge[e]);
	for (uint32_t v = 0; v < g->nv; v++)
		if (r->vertex_known[v])
			assert_int_equal(r->vertex[v], t->vertex[v]);
}

/* what the placement promises is known */
static void check_promises(const struct graph *g, const struct placement *p,
			   const struct propagation *r)
{
	bool edges = p->kind == PLACE_EDGES;
	bool all = !place_on_vertices(p->kind);

	if (p->blind)
		return;
	for (uint32_t v = 0; v < g->nv; v++)
		if (all || !g->is_virtual[v])
			assert_true(r->vertex_known[v]);
	for (uint32_t e = 0; edges && e < g->ne; e++)
		assert_true(r->edge_known[e]);
	if (edges)
		assert_int_equal(p->n, g->ne - (g->nv - count_parts(g)));
}

/* known means determined, and unknown means undetermined */
static void check_known(const struct graph *g, const struct placement *p,
			const struct propagation *r)
{
	struct linear l;

	if (!linear_init(&l, g))
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (place_on_vertices(p->kind))
			linear_count_vertex(&l, g, p->at[i]);
		else
			linear_count_edge(&l, p->at[i]);
	for (uint32_t e = 0; e < g->ne; e++)
		assert_int_equal(r->edge_known[e], linear_knows_edge(&l, e));
	for (uint32_t v = 0; v < g->nv; v++)
		assert_int_equal(r->vertex_known[v],
				 linear_knows_vertex(&l, g, v));
}

/* a wrong counter is either noticed or leads to a lawful profile */
static void check_corruption(struct arena *a, struct rng *r,
			     const struct graph *g, const struct placement *p,
			     uint64_t *value,
			     const struct propagate_flows *flows)
{
	struct propagation f;

	if (p->n == 0)
		return;
	value[rng_below(r, p->n)] += 1 + rng_below(r, 9);
	propagate_counts(a, g, p, value, flows, &f);
	if (!f.consistent || p->kind != PLACE_EDGES || p->blind)
		return;
	for (uint32_t v = 0; v < g->nv; v++) {
		uint64_t sum = flows->birth[v] - flows->death[v];

		for_each_edge_in (e, g, v)
			sum += f.edge[e];
		for_each_edge_out (e, g, v)
			sum -= f.edge[e];
		if (v != g->exit)
			assert_int_equal(sum, 0);
	}
}

/* some places are barred, now and then */
static void make_limits(struct arena *a, struct rng *r, const struct graph *g,
			struct place_limits *limits)
{
	bool *edge = ARENA_ARRAY(a, bool, g->ne);
	bool *vertex = ARENA_ARRAY(a, bool, g->nv);
	uint32_t one_in = 1 + rng_below(r, 6);

	*limits = (struct place_limits){edge, vertex};
	for (uint32_t e = 0; e < g->ne; e++)
		edge[e] = rng_once_in(r, one_in);
	for (uint32_t v = 0; v < g->nv; v++)
		vertex[v] = rng_once_in(r, one_in);
}

/* one placement, from weights to counts */
static void try_placement(struct arena *a, struct rng *r, const struct graph *g,
			  const struct tallied *t, enum place_kind kind,
			  bool exactly)
{
	struct propagate_flows flows = {t->death, t->birth};
	struct place_limits limits;
	struct placement p;
	struct weights w;
	struct propagation f;
	uint64_t *value;
	bool limited = rng_once_in(r, 6);

	make_weights(a, r, g, t, &w);
	make_limits(a, r, g, &limits);
	place_counters(a, g, &w, limited ? &limits : NULL, kind, &p);
	for (uint32_t i = 0; limited && i < p.n; i++)
		assert_false(place_on_vertices(kind) ? limits.vertex[p.at[i]]
						     : limits.edge[p.at[i]]);
	for (uint32_t i = 0; place_on_vertices(kind) && i < p.n; i++)
		assert_false(g->is_virtual[p.at[i]]);
	value = read_counters(a, &p, t);
	propagate_counts(a, g, &p, value, &flows, &f);
	check_counts(g, &f, t);
	check_promises(g, &p, &f);
	if (exactly)
		check_known(g, &p, &f);
	check_corruption(a, r, g, &p, value, &flows);
}

static void test_random_graphs(void **state)
{
	struct rng r = {1};
	uint32_t tries = random_cfg_tries(100000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct graph g;
		struct tallied t;
		uint32_t runs = rng_below(&r, 6);

		random_cfg(&a, &r, i % CFG_SHAPES, i % 97 ? 9 : 40, &g);
		tallied_init(&a, &g, &t);
		while (runs--)
			tallied_run(&r, &g, rng_below(&r, 60),
				    rng_once_in(&r, 5), &t);
		for (enum place_kind kind = 0; kind <= PLACE_REDUNDANT; kind++)
			try_placement(&a, &r, &g, &t, kind, i % 8 == 0);
		arena_free(&a);
	}
}

/* any set of counters at all: known is exactly what is determined */
static void test_random_counters(void **state)
{
	struct rng r = {2};
	uint32_t tries = random_cfg_tries(8000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct placement p = {.kind = i % (PLACE_REDUNDANT + 1)};
		struct graph g;
		struct tallied t;
		struct propagation f;
		uint32_t n;

		random_cfg(&a, &r, i / 4 % CFG_SHAPES, 8, &g);
		tallied_init(&a, &g, &t);
		tallied_run(&r, &g, 200, false, &t);
		n = place_on_vertices(p.kind) ? g.nv : g.ne;
		p.at = ARENA_ARRAY(&a, uint32_t, n);
		for (uint32_t j = 0; j < n; j++)
			if (rng_once_in(&r, 2))
				p.at[p.n++] = j;
		propagate_counts(&a, &g, &p, read_counters(&a, &p, &t),
				 &(struct propagate_flows){t.death, t.birth},
				 &f);
		check_counts(&g, &f, &t);
		check_known(&g, &p, &f);
		arena_free(&a);
	}
}

/* root -> a -> exit, all blocks counted */
static void make_chain(struct arena *a, struct graph *g, struct placement *p)
{
	static uint32_t all[] = {0, 1};
	struct graph_sketch s = {0};

	graph_add_vertices(&s, 3);
	graph_add_edge(&s, 0, 1);
	graph_add_edge(&s, 1, 2);
	graph_seal(a, &s, 0, 2, g);
	*p = (struct placement){.kind = PLACE_REDUNDANT, .n = 2, .at = all};
}

static void test_contradiction(void **state)
{
	struct arena a = {0};
	struct graph g;
	struct placement p;
	struct propagation f;
	uint64_t death[3] = {1, 0, 0};

	(void)state;
	make_chain(&a, &g, &p);
	propagate_counts(&a, &g, &p, (uint64_t[]){7, 7}, NULL, &f);
	assert_true(f.consistent);
	assert_int_equal(f.edge[g.closing], 7);
	propagate_counts(&a, &g, &p, (uint64_t[]){8, 7}, NULL, &f);
	assert_false(f.consistent);
	propagate_counts(&a, &g, &p, (uint64_t[]){8, 7},
			 &(struct propagate_flows){.death = death}, &f);
	assert_true(f.consistent);
	arena_free(&a);
}

/* a negative count is not clamped; nor is one beyond 64 bits */
static void test_impossible_counts(void **state)
{
	struct arena a = {0};
	struct graph_sketch s = {0};
	struct graph g;
	struct placement p = {
		.kind = PLACE_EDGES, .n = 2, .at = (uint32_t[]){0, 1}};
	struct propagation f;

	(void)state;
	graph_add_vertices(&s, 3);
	graph_add_edge(&s, 0, 1);
	graph_add_edge(&s, 1, 2);
	graph_add_edge(&s, 1, 2);
	graph_seal(&a, &s, 0, 2, &g);
	propagate_counts(&a, &g, &p, (uint64_t[]){5, 3}, NULL, &f);
	assert_true(f.consistent);
	assert_int_equal(f.edge[2], 2);
	propagate_counts(&a, &g, &p, (uint64_t[]){3, 5}, NULL, &f);
	assert_false(f.consistent);
	assert_true(f.edge[2] == -(uint64_t)2);
	p.at = (uint32_t[]){1, 2};
	propagate_counts(&a, &g, &p, (uint64_t[]){UINT64_MAX - 1, 1}, NULL, &f);
	assert_true(f.consistent);
	assert_true(f.edge[g.closing] == UINT64_MAX);
	propagate_counts(&a, &g, &p, (uint64_t[]){UINT64_MAX, 1}, NULL, &f);
	assert_false(f.consistent);
	arena_free(&a);
}

/* exit merges with nothing: calls are unknown when blocks are counted */
static void test_calls_unknown(void **state)
{
	struct arena a = {0};
	struct graph_sketch s = {0};
	struct graph g;
	struct placement p = {
		.kind = PLACE_REDUNDANT, .n = 1, .at = (uint32_t[]){0}};
	struct propagation f;

	(void)state;
	graph_add_vertices(&s, 2);
	graph_add_edge(&s, 0, 0); /* how much of it is the loop? */
	graph_add_edge(&s, 0, 1);
	graph_seal(&a, &s, 0, 1, &g);
	propagate_counts(&a, &g, &p, (uint64_t[]){9}, NULL, &f);
	assert_true(f.consistent);
	assert_true(f.vertex_known[0] && f.vertex[0] == 9);
	assert_false(f.edge_known[g.closing]);
	assert_false(f.vertex_known[g.exit]);
	arena_free(&a);
}

/* a hub is virtual, and the law holds there */
static void test_hub(void **state)
{
	struct arena a = {0};
	struct graph_sketch s = {0};
	struct graph g;
	struct placement p = {.kind = PLACE_EDGES, .n = 3};
	struct propagation f;
	uint32_t hub;

	(void)state;
	/* root 0 -> jumps 1, 2 -> hub -> targets 3, 4 -> exit 5 */
	graph_add_vertices(&s, 6);
	graph_add_edge(&s, 0, 1);
	graph_add_edge(&s, 0, 2);
	hub = graph_add_hub(&s, (uint32_t[]){1, 2}, 2, (uint32_t[]){3, 4}, 2);
	graph_add_edge(&s, 3, 5);
	graph_add_edge(&s, 4, 5);
	graph_seal(&a, &s, 0, 5, &g);
	assert_true(g.is_virtual[hub] && g.is_virtual[5] && !g.is_virtual[1]);
	p.at = (uint32_t[]){0, 1, 4};
	propagate_counts(&a, &g, &p, (uint64_t[]){7, 3, 8}, NULL, &f);
	assert_true(f.consistent);
	assert_true(f.vertex_known[hub] && f.vertex[hub] == 10);
	assert_true(f.vertex_known[4] && f.vertex[4] == 2);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_random_counters),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_impossible_counts),
		cmocka_unit_test(test_calls_unknown),
		cmocka_unit_test(test_hub),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
