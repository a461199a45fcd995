/*
 * flow/trace: witnesses and bits must regenerate every run, edge by edge, in
 * one procedure and across several; and the sets of witnesses are disjoint by
 * their definition, not only by the theorem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/regen.h"
#include "flow/weight.h"
#include "random_cfg.h"

enum { PROCS = 4, MOST_STEPS = 300, MOST_FRAMES = 12 };

struct program {
	uint32_t n;
	struct graph g[PROCS];
	struct witnesses w[PROCS];
	uint8_t *bits[PROCS];
	uint32_t *callee[PROCS]; /* per block, REGEN_NO_CALL where none */
};

/* what a run did, and what it wrote */
struct record {
	uint32_t nsteps, nwitnesses, nbits, nend;
	struct regen_step step[MOST_STEPS * 2];
	uint32_t witness[MOST_STEPS * 2];
	uint8_t bit[MOST_STEPS * 8];
	struct regen_frame end[MOST_FRAMES];
	/* how far a regenerator has read, and of whose run */
	uint32_t witnesses_read, bits_read;
	bool by_bits;
	const struct program *program;
};

static uint32_t give_witness(void *ctx, uint32_t proc)
{
	struct record *x = ctx;

	(void)proc;
	if (x->witnesses_read == x->nwitnesses)
		return REGEN_EOF;
	return x->witness[x->witnesses_read++];
}

static uint32_t give_bits(void *ctx, unsigned n)
{
	struct record *x = ctx;
	uint32_t code = 0;

	if (x->bits_read + n > x->nbits)
		return REGEN_EOF;
	for (unsigned i = 0; i < n; i++)
		code |= (uint32_t)x->bit[x->bits_read++] << i;
	return code;
}

static bool is_dry(void *ctx)
{
	struct record *x = ctx;

	return x->by_bits ? x->bits_read == x->nbits
			  : x->witnesses_read == x->nwitnesses;
}

static uint32_t give_callee(void *ctx, uint32_t proc, uint32_t v)
{
	struct record *x = ctx;

	return x->program->callee[proc][v];
}

/* block v of proc ran, reached by e */
static void record_step(struct record *x, uint32_t proc, uint32_t v, uint32_t e)
{
	assert_true(x->nsteps < MOST_STEPS * 2);
	x->step[x->nsteps++] = (struct regen_step){proc, v, e};
}

/* edge e of proc was taken: what instrumented code would write */
static void record_edge(struct record *x, uint32_t proc, uint32_t e)
{
	const struct program *p = x->program;
	uint32_t code = bits_code(&p->g[proc], e);
	unsigned bits = p->bits[proc][p->g[proc].from[e]];

	if (p->w[proc].on[e])
		x->witness[x->nwitnesses++] = e;
	assert_true(x->nbits + bits <= sizeof x->bit);
	for (unsigned i = 0; i < bits; i++)
		x->bit[x->nbits++] = code >> i & 1;
}

/*
 * Runs the program from `frames`; it ends at the first frame's exit, or early
 * with a stack: out of steps, too deep, or nowhere to go.
 */
static void run_program(struct rng *r, const struct program *p,
			const struct regen_frame *frames, uint32_t n,
			uint32_t steps, struct record *x)
{
	struct regen_frame f[MOST_FRAMES];
	uint32_t e = GRAPH_NONE;

	*x = (struct record){.program = p};
	memcpy(f, frames, n * sizeof *f);
	for (;;) {
		struct regen_frame *top = &f[n - 1];
		const struct graph *g = &p->g[top->proc];
		uint32_t callee;

		record_step(x, top->proc, top->vertex, e);
		if (steps-- == 0)
			break;
		callee = top->vertex == g->exit
				 ? REGEN_NO_CALL
				 : p->callee[top->proc][top->vertex];
		if (callee != REGEN_NO_CALL) {
			if (n == MOST_FRAMES)
				break;
			f[n++] =
				(struct regen_frame){callee, p->g[callee].root};
			e = GRAPH_NONE;
			continue;
		}
		while (top->vertex == p->g[top->proc].exit) {
			if (n == 1)
				return;
			top = &f[--n - 1];
		}
		g = &p->g[top->proc];
		if (graph_out_degree(g, top->vertex) == 0)
			break;
		e = g->out[g->out_first[top->vertex] +
			   rng_below(r, graph_out_degree(g, top->vertex))];
		record_edge(x, top->proc, e);
		top->vertex = g->to[e];
	}
	memcpy(x->end, f, n * sizeof *f);
	x->nend = n;
}

/* a run that stops at exit was not early, if no frame is left behind */
static const struct regen_frame *early_end(const struct record *x)
{
	return x->nend ? x->end : NULL;
}

/* the regenerated run is the recorded one */
static void check_regen(struct arena *a, const struct program *p,
			struct record *x, const struct regen_frame *start,
			uint32_t n, bool by_bits)
{
	struct regen_source source = {x, give_witness, give_bits, is_dry,
				      give_callee};
	struct regen r = {0};
	struct regen_step step;

	x->by_bits = by_bits;
	for (uint32_t i = 0; i < p->n; i++)
		regen_add(a, &r, &p->g[i], by_bits ? NULL : p->w[i].on,
			  by_bits ? p->bits[i] : NULL);
	regen_start(&r, &source, start, n, early_end(x), x->nend);
	for (uint32_t i = 0; i < x->nsteps; i++) {
		assert_int_equal(regen_next(&r, &step), REGEN_BLOCK);
		assert_int_equal(step.proc, x->step[i].proc);
		assert_int_equal(step.vertex, x->step[i].vertex);
		/* the edge by which a caller goes on is its own */
		if (x->step[i].edge != GRAPH_NONE)
			assert_int_equal(step.edge, x->step[i].edge);
	}
	assert_int_equal(regen_next(&r, &step), REGEN_DONE);
	assert_true(is_dry(x));
	regen_free(&r);
}

/* marks the witnesses (edges), and exit as g->closing, seen first after e */
static void find_witnesses(const struct graph *g, const bool *on, uint32_t e,
			   bool *seen)
{
	uint32_t todo[256], n = 0;
	bool *met = calloc(g->nv, 1);

	memset(seen, 0, g->ne);
	if (on[e]) {
		seen[e] = true;
	} else {
		todo[n++] = g->to[e];
		met[g->to[e]] = true;
	}
	while (n) {
		uint32_t v = todo[--n];

		if (v == g->exit) {
			seen[g->closing] = true;
			continue;
		}
		for_each_edge_out (f, g, v) {
			if (on[f]) {
				seen[f] = true;
			} else if (!met[g->to[f]]) {
				met[g->to[f]] = true;
				todo[n++] = g->to[f];
			}
		}
	}
	free(met);
}

/* witness(p, q) of every two ways out of a predicate have nothing in common */
static void check_disjoint(struct arena *a, const struct graph *g,
			   const bool *on)
{
	bool *one = ARENA_ARRAY(a, bool, g->ne);
	bool *sum = ARENA_ARRAY(a, bool, g->ne);

	for (uint32_t v = 0; v < g->nv; v++) {
		if (!witness_is_predicate(g, v))
			continue;
		memset(sum, 0, g->ne);
		for_each_edge_out (e, g, v) {
			find_witnesses(g, on, e, one);
			for (uint32_t f = 0; f < g->ne; f++) {
				assert_false(one[f] && sum[f]);
				sum[f] |= one[f];
			}
		}
	}
}

/* no predicate reaches a call or exit without a witness */
static void check_blocking(const struct graph *g, const bool *on,
			   const bool *calls)
{
	bool *seen = calloc(g->nv, 1);
	bool moved = true;

	for (uint32_t e = 0; e < g->closing; e++)
		if (witness_is_predicate(g, g->from[e]) && !on[e])
			seen[g->to[e]] = true;
	while (moved) {
		moved = false;
		for (uint32_t e = 0; e < g->closing; e++)
			if (seen[g->from[e]] && !on[e] && !seen[g->to[e]])
				moved = seen[g->to[e]] = true;
	}
	for (uint32_t v = 0; v < g->nv; v++)
		assert_false(seen[v] && (v == g->exit || calls[v]));
	free(seen);
}

/* whether e blocks a call or exit: the definition in POPL '92, 4.2 */
static bool is_blocker(const struct graph *g, const bool *calls, uint32_t e)
{
	uint32_t v = g->to[e];

	if (!witness_is_predicate(g, g->from[e]))
		return false;
	for (uint32_t i = 0; i <= g->nv; i++) {
		if (v == g->exit || calls[v])
			return true;
		if (graph_out_degree(g, v) != 1)
			return false;
		v = g->to[g->out[g->out_first[v]]];
	}
	return false;
}

/* every witness is a blocker or closes a cycle with the edges without */
static void check_needed(const struct graph *g, const bool *on,
			 const bool *calls)
{
	uint32_t part[256];
	bool moved = true;

	for (uint32_t v = 0; v < g->nv; v++)
		part[v] = v;
	while (moved) {
		moved = false;
		for (uint32_t e = 0; e < g->closing; e++) {
			uint32_t u = part[g->from[e]], v = part[g->to[e]];

			if (on[e] || u == v)
				continue;
			part[g->from[e]] = part[g->to[e]] = u < v ? u : v;
			moved = true;
		}
	}
	for (uint32_t e = 0; e < g->closing; e++) {
		bool blocks = is_blocker(g, calls, e);

		assert_true(on[e] || !blocks);
		if (on[e] && !blocks)
			assert_int_equal(part[g->from[e]], part[g->to[e]]);
	}
}

/*
 * Theorem 4.2's other side: between two vertices there is at most one path
 * without witnesses, and none from a vertex to itself. Counts paths.
 */
static void check_no_diamond(const struct graph *g, const bool *on)
{
	for (uint32_t u = 0; u < g->nv; u++) {
		uint32_t *paths = calloc(g->nv, sizeof *paths);
		uint32_t todo[256], n = 0;

		todo[n++] = u;
		while (n) {
			uint32_t v = todo[--n];

			for_each_edge_out (e, g, v) {
				if (e == g->closing || on[e])
					continue;
				assert_int_equal(paths[g->to[e]]++, 0);
				assert_true(g->to[e] != u);
				todo[n++] = g->to[e];
			}
		}
		free(paths);
	}
}

/* edges that cannot carry a witness: some, now and then */
static bool *make_barred(struct arena *a, struct rng *r, const struct graph *g)
{
	bool *barred = ARENA_ARRAY(a, bool, g->ne);

	if (!rng_once_in(r, 4))
		return NULL;
	for (uint32_t e = 0; e < g->ne; e++)
		barred[e] = rng_once_in(r, 4);
	return barred;
}

/* how many barred edges close cycles among themselves, whatever the tree */
static uint32_t count_barred_cycles(const struct graph *g, const bool *barred)
{
	uint32_t part[256], n = 0;

	for (uint32_t v = 0; v < g->nv; v++)
		part[v] = v;
	for (uint32_t e = 0; barred && e < g->closing; e++) {
		uint32_t u = part[g->from[e]], v = part[g->to[e]];

		n += barred[e] && u == v;
		for (uint32_t w = 0; barred[e] && w < g->nv; w++)
			if (part[w] == u)
				part[w] = v;
	}
	return n;
}

/* none of the barred edges writes, and only those are missed */
static void check_barred(const struct graph *g, const bool *barred,
			 const struct witnesses *w)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < g->ne; e++) {
		assert_false(barred && barred[e] && w->on[e]);
		n += w->on[e];
	}
	assert_int_equal(n, w->n);
	assert_true(barred || w->blind == 0);
}

/* a procedure of its own; calls[] empty */
static void make_procedure(struct arena *a, struct rng *r, uint32_t shape,
			   struct program *p, uint32_t i)
{
	random_cfg(a, r, shape, 9, &p->g[i]);
	p->bits[i] = bits_place(a, &p->g[i]);
	p->callee[i] = ARENA_ARRAY(a, uint32_t, p->g[i].nv);
	memset(p->callee[i], 0xff, p->g[i].nv * sizeof(uint32_t));
}

static void test_one_procedure(void **state)
{
	struct rng r = {7};
	uint32_t tries = random_cfg_tries(50000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct program p = {.n = 1};
		struct record x;
		struct weights w;
		bool *barred;

		make_procedure(&a, &r, i % CFG_SHAPES, &p, 0);
		weight_guess(&a, &p.g[0], NULL, &w);
		barred = make_barred(&a, &r, &p.g[0]);
		witness_place(&a, &p.g[0], w.edge, barred, &p.w[0]);
		check_barred(&p.g[0], barred, &p.w[0]);
		assert_int_equal(p.w[0].blind,
				 count_barred_cycles(&p.g[0], barred));
		if (p.w[0].blind == 0) {
			check_disjoint(&a, &p.g[0], p.w[0].on);
			check_no_diamond(&p.g[0], p.w[0].on);
		}
		for (int j = 0; j < 4 && p.w[0].blind == 0; j++) {
			struct regen_frame start = {0, p.g[0].root};

			if (j == 3) /* as after a longjmp */
				start.vertex = rng_below(&r, p.g[0].nv);
			run_program(&r, &p, &start, 1, rng_below(&r, 100), &x);
			check_regen(&a, &p, &x, &start, 1, false);
			check_regen(&a, &p, &x, &start, 1, true);
		}
		arena_free(&a);
	}
}

/*
 * Blocks that call anything, themselves included, and go on after it. Returns
 * whether the procedure can be traced by witnesses.
 */
static bool make_calls(struct arena *a, struct rng *r, struct program *p,
		       uint32_t i)
{
	struct graph *g = &p->g[i];
	bool *calls = ARENA_ARRAY(a, bool, g->nv);
	bool *barred = make_barred(a, r, g);
	struct weights w;

	for (uint32_t v = 0; v < g->nv; v++)
		if (graph_out_degree(g, v) && rng_once_in(r, 4)) {
			p->callee[i][v] = rng_below(r, p->n);
			calls[v] = true;
		}
	weight_guess(a, g, NULL, &w);
	witness_place_blocking(a, g, w.edge, barred, calls, &p->w[i]);
	check_barred(g, barred, &p->w[i]);
	if (p->w[i].blind)
		return false;
	check_disjoint(a, g, p->w[i].on);
	check_no_diamond(g, p->w[i].on);
	check_blocking(g, p->w[i].on, calls);
	check_needed(g, p->w[i].on, calls);
	return true;
}

static void test_several_procedures(void **state)
{
	struct rng r = {8};
	uint32_t tries = random_cfg_tries(20000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct program p = {.n = 1 + rng_below(&r, PROCS)};
		struct record x;
		struct regen_frame start;
		bool witnessed = true;

		for (uint32_t j = 0; j < p.n; j++)
			make_procedure(&a, &r, rng_below(&r, CFG_SHAPES), &p,
				       j);
		for (uint32_t j = 0; j < p.n; j++)
			witnessed &= make_calls(&a, &r, &p, j);
		for (int j = 0; j < 4; j++) {
			start = (struct regen_frame){0, p.g[0].root};
			run_program(&r, &p, &start, 1,
				    rng_below(&r, MOST_STEPS), &x);
			if (witnessed)
				check_regen(&a, &p, &x, &start, 1, false);
			check_regen(&a, &p, &x, &start, 1, true);
		}
		arena_free(&a);
	}
}

/* a trace that does not fit is refused, whatever it holds */
static void test_broken_traces(void **state)
{
	struct rng r = {9};
	uint32_t tries = random_cfg_tries(20000);

	(void)state;
	for (uint32_t i = 0; i < tries; i++) {
		struct arena a = {0};
		struct program p = {.n = 1};
		struct regen_frame start = {0, 0};
		struct regen_step step;
		struct regen reg = {0};
		struct record x = {.program = &p};
		struct regen_source source = {&x, give_witness, give_bits,
					      is_dry, give_callee};
		struct weights w;
		uint32_t steps = 0;

		make_procedure(&a, &r, i % CFG_SHAPES, &p, 0);
		weight_guess(&a, &p.g[0], NULL, &w);
		witness_place(&a, &p.g[0], w.edge, NULL, &p.w[0]);
		start.vertex = p.g[0].root;
		x.nwitnesses = rng_below(&r, 20);
		for (uint32_t j = 0; j < x.nwitnesses; j++)
			x.witness[j] = rng_below(&r, p.g[0].ne + 3);
		regen_add(&a, &reg, &p.g[0], p.w[0].on, NULL);
		regen_start(&reg, &source, &start, 1, NULL, 0);
		while (regen_next(&reg, &step) == REGEN_BLOCK)
			assert_true(++steps < 21 * (p.g[0].nv + 1));
		regen_free(&reg);
		arena_free(&a);
	}
}

/* a procedure that does nothing but call itself: refused, not followed */
static void test_endless_recursion(void **state)
{
	struct arena a = {0};
	struct graph_sketch s = {0};
	struct program p = {.n = 1, .callee = {(uint32_t[]){0, 0}}};
	struct record x = {.program = &p};
	struct regen_source source = {&x, give_witness, give_bits, is_dry,
				      give_callee};
	struct regen_frame start = {0, 0};
	struct regen_step step;
	struct regen r = {0};
	enum regen_state last;

	(void)state;
	graph_add_vertices(&s, 2);
	graph_add_edge(&s, 0, 1);
	graph_seal(&a, &s, 0, 1, &p.g[0]);
	regen_add(&a, &r, &p.g[0], NULL, bits_place(&a, &p.g[0]));
	regen_start(&r, &source, &start, 1, NULL, 0);
	do
		last = regen_next(&r, &step);
	while (last == REGEN_BLOCK);
	assert_int_equal(last, REGEN_BAD);
	regen_free(&r);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_procedure),
		cmocka_unit_test(test_several_procedures),
		cmocka_unit_test(test_broken_traces),
		cmocka_unit_test(test_endless_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
