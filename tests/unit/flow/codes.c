/*
 * flow/codes: a random walk through a random graph, coded edge by edge, is read
 * back by what is wanted at each vertex alone; codes are prefix codes wherever
 * they are wanted together, and no longer than they may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/codes.h"
#include "flow/weight.h"
#include "flow/witness.h"
#include "random_cfg.h"

enum { STEPS = 200 };

struct stream {
	uint8_t bit[STEPS * CODES_LONGEST];
	uint32_t n, at;
};

static void put(struct stream *s, const struct codes *c, uint32_t e)
{
	for (unsigned i = c->length[e]; i-- > 0;)
		s->bit[s->n++] = c->bits[e] >> i & 1;
}

/* does the stream go on with the code of e? */
static bool is_next(const struct stream *s, const struct codes *c, uint32_t e)
{
	if (s->n - s->at < c->length[e])
		return false;
	for (unsigned i = 0; i < c->length[e]; i++)
		if (s->bit[s->at + i] !=
		    (c->bits[e] >> (c->length[e] - 1 - i) & 1))
			return false;
	return true;
}

/* is the code of a witness the beginning of that of another, at v? */
static void check_prefixes(const struct graph *g, const bool *on,
			   const struct codes *c, uint32_t v,
			   struct codes_wanted *w)
{
	assert_true(codes_want(g, on, v, CODES_MOST, w));
	for (size_t i = 0; i < w->edge.n; i++) {
		uint32_t e = w->edge.at[i];

		assert_in_range(c->length[e], 1, CODES_LONGEST);
		assert_int_equal(c->bits[e] >> c->length[e], 0);
		for (size_t j = 0; j < w->edge.n; j++) {
			uint32_t f = w->edge.at[j];

			if (i == j || c->length[f] < c->length[e])
				continue;
			assert_int_not_equal(
				c->bits[f] >> (c->length[f] - c->length[e]),
				c->bits[e]);
		}
	}
}

/* a walk from v, as edges; what it writes */
static uint32_t walk(struct rng *r, const struct graph *g, uint32_t v,
		     const struct codes *c, uint32_t *edge, struct stream *s)
{
	uint32_t n = 0;

	while (n < STEPS && graph_out_degree(g, v)) {
		uint32_t e = g->out[g->out_first[v] +
				    rng_below(r, graph_out_degree(g, v))];

		edge[n++] = e;
		put(s, c, e);
		v = g->to[e];
	}
	return n;
}

/* the witness that was written next, of those that are wanted: which of w */
static size_t read_next(struct stream *s, const struct codes *c,
			const struct codes_wanted *w)
{
	for (size_t i = 0; i < w->edge.n; i++)
		if (is_next(s, c, w->edge.at[i])) {
			s->at += c->length[w->edge.at[i]];
			return i;
		}
	return w->edge.n;
}

/* goes the same way, by what was written; stops where more would be needed */
static void walk_again(const struct graph *g, const bool *on,
		       const struct codes *c, struct stream *s, uint32_t v,
		       const uint32_t *edge, uint32_t n)
{
	struct codes_wanted w = {0};
	uint32_t i = 0;

	while (i < n) {
		uint32_t only = g->out[g->out_first[v]];
		size_t k;

		if (graph_out_degree(g, v) == 1 && !on[only]) {
			assert_int_equal(only, edge[i++]);
			v = g->to[only];
			continue;
		}
		assert_true(codes_want(g, on, v, CODES_MOST, &w));
		k = read_next(s, c, &w);
		/* what is left of the walk has not written anything */
		if (k == w.edge.n)
			break;
		for (uint32_t j = w.first.at[k + 1]; j-- > w.first.at[k];)
			assert_int_equal(w.way.at[j], edge[i++]);
		assert_int_equal(w.edge.at[k], edge[i++]);
		v = g->to[w.edge.at[k]];
	}
	assert_int_equal(s->at, s->n);
	for (; i < n; i++)
		assert_false(on[edge[i]]);
	codes_wanted_free(&w);
}

static void check(struct arena *a, struct rng *r, const struct graph *g,
		  const bool *on, const double *weight)
{
	struct codes_wanted w = {0};
	struct stream s = {0};
	uint32_t edge[STEPS], n;
	struct codes c;

	assert_true(codes_assign(a, g, on, weight, &c));
	for (uint32_t e = 0; e < g->ne; e++)
		assert_true(on[e] || !c.length[e]);
	for (uint32_t v = 0; v < g->nv; v++)
		if (graph_out_degree(g, v) > 1)
			check_prefixes(g, on, &c, v, &w);
	n = walk(r, g, g->root, &c, edge, &s);
	walk_again(g, on, &c, &s, g->root, edge, n);
	codes_wanted_free(&w);
}

static void test_walks(void **state)
{
	struct rng r = {31};

	(void)state;
	for (uint32_t i = random_cfg_tries(40000); i > 0; i--) {
		struct arena a = {0};
		struct witnesses w;
		struct weights weight;
		struct graph g;

		random_cfg(&a, &r, i % CFG_SHAPES, 12, &g);
		weight_guess(&a, &g, NULL, &weight);
		witness_place(&a, &g, weight.edge, NULL, &w);
		check(&a, &r, &g, w.on, weight.edge);
		witness_place_blocking(&a, &g, weight.edge, NULL, NULL, &w);
		check(&a, &r, &g, w.on, weight.edge);
		check(&a, &r, &g, codes_of_branches(&a, &g), weight.edge);
		arena_free(&a);
	}
}

/* a switch of n ways in a loop, and their weights */
static void draw_switch(struct arena *a, uint32_t n, struct graph *g)
{
	struct graph_sketch s = {0};

	graph_add_vertices(&s, n + 2);
	for (uint32_t i = 0; i < n; i++) {
		graph_add_edge(&s, 0, i + 2);
		graph_add_edge(&s, i + 2, 0);
	}
	graph_add_edge(&s, 0, 1);
	graph_seal(a, &s, 0, 1, g);
}

/* codes of a switch are as short as the way is hot, and never too long */
static void test_switch(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 5000; n = n * 3 + 1) {
		struct arena a = {0};
		struct codes_wanted w = {0};
		struct graph g;
		struct codes c;
		double *weight;
		bool *on;

		draw_switch(&a, n, &g);
		on = codes_of_branches(&a, &g);
		weight = ARENA_ARRAY(&a, double, g.ne);
		for (uint32_t e = 0; e < g.ne; e++)
			weight[e] = e ? weight[e - 1] / 2 : 1e300;
		assert_true(codes_assign(&a, &g, on, weight, &c));
		check_prefixes(&g, on, &c, 0, &w);
		assert_int_equal(c.length[0], 1);
		codes_wanted_free(&w);
		arena_free(&a);
	}
}

/* two branches in a row, then one: witnesses are reused */
static void test_reuse(void **state)
{
	struct graph_sketch s = {0};
	struct arena a = {0};
	struct witnesses w;
	struct weights weight;
	struct codes c;
	struct graph g;

	(void)state;
	/* if (0) 1 else 2; if (3) 4 else 5; exit 6 */
	graph_add_vertices(&s, 7);
	for (uint32_t v = 0; v < 6; v += 3) {
		graph_add_edge(&s, v, v + 1);
		graph_add_edge(&s, v, v + 2);
		graph_add_edge(&s, v + 1, v + 3);
		graph_add_edge(&s, v + 2, v + 3);
	}
	graph_seal(&a, &s, 0, 6, &g);
	weight_guess(&a, &g, NULL, &weight);
	witness_place_blocking(&a, &g, weight.edge, NULL, NULL, &w);
	assert_true(codes_assign(&a, &g, w.on, weight.edge, &c));
	for (uint32_t e = 0; e < g.closing; e++)
		assert_in_range(c.length[e], 0, 2);
	arena_free(&a);
}

/* no placement leaves a cycle without a witness, a damaged file may: the way
   round it is not gone again and again */
static void test_cycle(void **state)
{
	struct graph_sketch s = {0};
	struct codes_wanted w = {0};
	struct arena a = {0};
	bool on[4] = {false, false, true, false};
	struct graph g;

	(void)state;
	graph_add_vertices(&s, 3);
	graph_add_edge(&s, 0, 1);
	graph_add_edge(&s, 1, 0);
	graph_add_edge(&s, 1, 2);
	graph_seal(&a, &s, 0, 2, &g);
	assert_int_equal(g.ne, 4);
	assert_false(codes_want(&g, on, 0, 5000, &w));
	assert_in_range(w.way.n, 0, 100);
	codes_wanted_free(&w);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
