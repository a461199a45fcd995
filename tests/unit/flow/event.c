/*
 * flow/event: the one counter, with the query increment of wherever the
 * program stands, is the true number of events at every point of every run,
 * in one procedure and inside nested calls, and after early ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/event.h"
#include "flow/weight.h"
#include "random_cfg.h"

enum { PROCS = 3, MOST_FRAMES = 10, NO_CALL = -1 };

struct procedure {
	struct graph g;
	struct event_plan x;
	int64_t *at_vertex, *at_edge;
	int *callee;
};

struct frame {
	struct procedure *p;
	uint32_t vertex;
	bool called; /* the call of this block is under way */
};

static void make_procedure(struct arena *a, struct rng *r, struct procedure *p,
			   uint32_t nprocs)
{
	struct weights w;
	struct tree t;
	bool *calls;

	random_cfg(a, r, rng_below(r, CFG_SHAPES), 9, &p->g);
	p->at_vertex = ARENA_ARRAY(a, int64_t, p->g.nv);
	p->at_edge = ARENA_ARRAY(a, int64_t, p->g.ne);
	p->callee = ARENA_ARRAY(a, int, p->g.nv);
	calls = ARENA_ARRAY(a, bool, p->g.nv);
	for (uint32_t v = 0; v < p->g.nv; v++) {
		p->at_vertex[v] = rng_below(r, 10);
		calls[v] = nprocs && v != p->g.exit && rng_once_in(r, 4);
		p->callee[v] = calls[v] ? (int)rng_below(r, nprocs) : NO_CALL;
	}
	for (uint32_t e = 0; e < p->g.closing; e++)
		p->at_edge[e] = rng_once_in(r, 3) ? rng_below(r, 10) : 0;
	weight_guess(a, &p->g, NULL, &w);
	for (uint32_t e = 0; e < p->g.ne; e++)
		w.edge[e] += rng_below(r, 3);
	tree_span(a, &p->g, w.edge, NULL, &t);
	event_place(a, &p->g, &t, p->at_vertex, p->at_edge, calls, &p->x);
	for (uint32_t e = 0; e < p->g.ne; e++)
		if (t.in[e])
			assert_int_equal(p->x.increment[e], 0);
}

/* one run of the whole program */
static void run_program(struct rng *r, struct procedure *procs, uint32_t steps)
{
	struct frame f[MOST_FRAMES] = {{&procs[0], procs[0].g.root, false}};
	int64_t counter = 0, truth = 0;
	uint32_t n = 1;

	while (steps--) {
		struct frame *top = &f[n - 1];
		struct procedure *p = top->p;
		uint32_t v = top->vertex, e;

		if (!top->called) { /* a new block */
			assert_int_equal(counter + p->x.query_start[v], truth);
			truth += p->at_vertex[v];
			assert_int_equal(counter + p->x.query_end[v], truth);
		}
		if (!top->called && p->callee[v] != NO_CALL &&
		    n < MOST_FRAMES) {
			struct procedure *q = &procs[p->callee[v]];

			counter += p->x.before_call[v];
			assert_int_equal(counter, truth);
			top->called = true;
			f[n++] = (struct frame){q, q->g.root, false};
			continue;
		}
		if (v == p->g.exit) {
			assert_int_equal(counter, truth);
			if (--n == 0)
				return;
			continue;
		}
		if (top->called)
			counter += p->x.after_call[v];
		else if (p->callee[v] != NO_CALL) /* too deep: a call of 0 */
			counter += p->x.before_call[v] + p->x.after_call[v];
		if (graph_out_degree(&p->g, v) == 0)
			return;
		e = p->g.out[p->g.out_first[v] +
			     rng_below(r, graph_out_degree(&p->g, v))];
		counter += p->x.increment[e];
		truth += p->at_edge[e];
		*top = (struct frame){p, p->g.to[e], false};
	}
}

static void test_queries(void **state)
{
	struct rng r = {10};
	uint32_t tries = random_cfg_tries(50000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct procedure procs[PROCS];
		uint32_t n = 1 + rng_below(&r, PROCS);

		for (uint32_t j = 0; j < n; j++)
			make_procedure(&a, &r, &procs[j], i % 2 ? n : 0);
		for (int j = 0; j < 4; j++)
			run_program(&r, procs, 300);
		arena_free(&a);
	}
}

/* the paper's definition, by walking the cycle of each chord */
static int64_t walk_cycle(const struct graph *g, const struct tree *t,
			  uint32_t chord, const int64_t *at_edge)
{
	uint32_t via[256], todo[256], n = 0, v = g->to[chord];
	bool met[256] = {0};
	int64_t sum = at_edge[chord];

	/* the path in the tree from the chord's end back to its start */
	met[v] = true;
	todo[n++] = v;
	while (n) {
		v = todo[--n];
		for (uint32_t e = 0; e < g->ne; e++) {
			uint32_t w = graph_other_end(g, e, v);

			if (!t->in[e] || met[w] ||
			    (g->from[e] != v && g->to[e] != v))
				continue;
			met[w] = true;
			via[w] = e;
			todo[n++] = w;
		}
	}
	for (v = g->from[chord]; v != g->to[chord];) {
		uint32_t e = via[v];

		/* along the cycle, e is walked towards v */
		sum += g->to[e] == v ? at_edge[e] : -at_edge[e];
		v = graph_other_end(g, e, v);
	}
	return sum;
}

static void test_definition(void **state)
{
	struct rng r = {11};
	uint32_t tries = random_cfg_tries(10000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct graph g;
		struct tree t;
		struct weights w;
		struct event_plan x;
		int64_t *at_edge;

		random_cfg(&a, &r, i % CFG_SHAPES, 9, &g);
		at_edge = ARENA_ARRAY(&a, int64_t, g.ne);
		for (uint32_t e = 0; e < g.closing; e++)
			at_edge[e] = (int64_t)rng_below(&r, 9) - 2;
		weight_guess(&a, &g, NULL, &w);
		tree_span(&a, &g, w.edge, NULL, &t);
		event_place(&a, &g, &t, NULL, at_edge, NULL, &x);
		for (uint32_t e = 0; e < g.closing; e++)
			if (!t.in[e])
				assert_int_equal(
					x.increment[e],
					walk_cycle(&g, &t, e, at_edge));
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
