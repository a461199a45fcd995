/*
 * random_cfg: random control-flow graphs and random runs through them, the
 * same on every machine (splitmix64, fixed seeds).
 *
 * Shapes: anything at all (irreducible, parallel edges, self loops, infinite
 * loops, unreachable blocks), the same with every block on a path from root to
 * exit, structured code (while, if, repeat, break), and a single block. Runs
 * are counted by brute force, block by block.
 */
#ifndef TESTS_RANDOM_CFG_H
#define TESTS_RANDOM_CFG_H

#include <stdlib.h>

#include "flow/graph.h"
#include "splitmix.h"

struct rng {
	uint64_t state;
};

/* the next 64 random bits */
static inline uint64_t rng_next(struct rng *r)
{
	return splitmix(&r->state);
}

/* a number below n; n > 0 */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* true once in n times */
static inline bool rng_once_in(struct rng *r, uint32_t n)
{
	return rng_below(r, n) == 0;
}

/* how many random graphs to try: TALLY_TEST_GRAPHS, or `usual` */
static inline uint32_t random_cfg_tries(uint32_t usual)
{
	const char *s = getenv("TALLY_TEST_GRAPHS");
	uint64_t n = s ? strtoull(s, NULL, 10) : 100000;

	return (uint32_t)(usual * n / 100000);
}

enum cfg_shape {
	CFG_ANY,
	CFG_CONNECTED,  /* every vertex between root and exit */
	CFG_STRUCTURED, /* while, if-else, blocks only */
	CFG_LOOPY,      /* structured, with repeat loops and breaks too */
	CFG_ONE_BLOCK,
	CFG_SHAPES,
};

/* any graph of n blocks: exit is vertex n; sometimes a hub */
static inline void random_cfg_draw_any(struct rng *r, struct graph_sketch *s,
				       uint32_t n)
{
	uint32_t ne = rng_below(r, 3 * n + 1);

	graph_add_vertices(s, n + 1);
	for (uint32_t i = 0; i < ne; i++)
		graph_add_edge(s, rng_below(r, n), rng_below(r, n + 1));
	if (rng_once_in(r, 8)) {
		uint32_t from[2] = {rng_below(r, n), rng_below(r, n)};
		uint32_t to[3] = {rng_below(r, n), rng_below(r, n + 1),
				  rng_below(r, n)};

		graph_add_hub(s, from, 2, to, 3);
	}
}

/* n blocks, all reached and all reaching exit, and extra edges */
static inline void random_cfg_draw_connected(struct rng *r,
					     struct graph_sketch *s, uint32_t n,
					     uint32_t extra)
{
	graph_add_vertices(s, n + 1);
	for (uint32_t v = 1; v < n; v++)
		graph_add_edge(s, rng_below(r, v), v);
	for (uint32_t v = 0; v < n; v++)
		if (v + 1 == n || rng_once_in(r, 2))
			graph_add_edge(s, v, v + 1 + rng_below(r, n - v));
	/* leaves without a way out get one; later numbers reach exit */
	for (uint32_t v = 0; v < n; v++) {
		bool out = false;

		for (size_t e = 0; e < s->from.n; e++)
			out |= s->from.at[e] == v && s->to.at[e] > v;
		if (!out)
			graph_add_edge(s, v, v + 1 + rng_below(r, n - v));
	}
	for (uint32_t i = 0; i < extra; i++)
		graph_add_edge(s, rng_below(r, n), rng_below(r, n + 1));
}

/*
 * Structured code of at most `budget` statements after block v; returns the
 * block where it ends. `out` is where a break goes, GRAPH_NONE for none.
 */
static inline uint32_t random_cfg_draw_code(struct rng *r,
					    struct graph_sketch *s, uint32_t v,
					    uint32_t budget, bool loopy,
					    uint32_t out)
{
	while (budget > 0) {
		uint32_t part = rng_below(r, budget), a, b, end;

		budget -= part + 1;
		switch (rng_below(r, loopy ? 5 : 3)) {
		case 0: /* if-else; each arm has a block */
			a = graph_add_vertices(s, 2);
			b = a + 1;
			graph_add_edge(s, v, a);
			graph_add_edge(s, v, b);
			a = random_cfg_draw_code(r, s, a, part, loopy, out);
			v = graph_add_vertices(s, 1);
			graph_add_edge(s, a, v);
			graph_add_edge(s, b, v);
			break;
		case 1: /* while; head, body, end */
			a = graph_add_vertices(s, 3);
			b = a + 1;
			end = a + 2;
			graph_add_edge(s, v, a);
			graph_add_edge(s, a, b);
			graph_add_edge(s, a, end);
			b = random_cfg_draw_code(r, s, b, part, loopy, end);
			graph_add_edge(s, b, a);
			v = end;
			break;
		case 2: /* a block */
			a = graph_add_vertices(s, 1);
			graph_add_edge(s, v, a);
			v = a;
			break;
		case 3: /* repeat until */
			a = graph_add_vertices(s, 2);
			end = a + 1;
			graph_add_edge(s, v, a);
			b = random_cfg_draw_code(r, s, a, part, loopy, end);
			graph_add_edge(s, b, a);
			graph_add_edge(s, b, end);
			v = end;
			break;
		default: /* if (..) break */
			a = graph_add_vertices(s, 1);
			graph_add_edge(s, v, a);
			if (out != GRAPH_NONE)
				graph_add_edge(s, v, out);
			v = a;
		}
	}
	return v;
}

/* a graph of about `size` blocks */
static inline void random_cfg(struct arena *a, struct rng *r,
			      enum cfg_shape shape, uint32_t size,
			      struct graph *g)
{
	struct graph_sketch s = {0};
	uint32_t n = 1 + rng_below(r, size), root = 0, exit = n, v;

	switch (shape) {
	case CFG_ANY:
		random_cfg_draw_any(r, &s, n);
		root = rng_below(r, n);
		break;
	case CFG_CONNECTED:
		random_cfg_draw_connected(r, &s, n, rng_below(r, n + 1));
		break;
	case CFG_STRUCTURED:
	case CFG_LOOPY:
		graph_add_vertices(&s, 1);
		v = random_cfg_draw_code(r, &s, 0, n / 2, shape == CFG_LOOPY,
					 GRAPH_NONE);
		exit = graph_add_vertices(&s, 1);
		graph_add_edge(&s, v, exit);
		break;
	default:
		exit = graph_add_vertices(&s, 2) + 1;
		if (!rng_once_in(r, 4))
			graph_add_edge(&s, 0, exit);
		if (rng_once_in(r, 4))
			graph_add_edge(&s, 0, 0);
	}
	graph_seal(a, &s, root, exit, g);
}

/* brute-force counts of all runs so far */
struct tallied {
	uint64_t *edge, *vertex, *death, *birth;
};

static inline void tallied_init(struct arena *a, const struct graph *g,
				struct tallied *t)
{
	t->edge = ARENA_ARRAY(a, uint64_t, g->ne);
	t->vertex = ARENA_ARRAY(a, uint64_t, g->nv);
	t->death = ARENA_ARRAY(a, uint64_t, g->nv);
	t->birth = ARENA_ARRAY(a, uint64_t, g->nv);
}

/*
 * One run of at most `steps` edges, called or (if born) starting anywhere. A
 * run that does not reach exit in time, or cannot go on, dies where it is.
 */
static inline void tallied_run(struct rng *r, const struct graph *g,
			       uint32_t steps, bool born, struct tallied *t)
{
	uint32_t v = g->root;

	if (born) {
		do
			v = rng_below(r, g->nv);
		while (v == g->exit);
		t->birth[v]++;
	} else {
		t->edge[g->closing]++;
	}
	t->vertex[v]++;
	while (v != g->exit && steps-- && graph_out_degree(g, v)) {
		uint32_t i = rng_below(r, graph_out_degree(g, v));
		uint32_t e = g->out[g->out_first[v] + i];

		t->edge[e]++;
		v = g->to[e];
		t->vertex[v]++;
	}
	if (v != g->exit) {
		t->death[v]++;
		t->vertex[g->exit]++;
	}
}

/* what counters at these edges (or vertices) would have said */
static inline uint64_t *tallied_read(struct arena *a, const struct tallied *t,
				     const uint32_t *at, uint32_t n,
				     bool on_vertices)
{
	uint64_t *value = ARENA_ARRAY(a, uint64_t, n);

	for (uint32_t i = 0; i < n; i++)
		value[i] = on_vertices ? t->vertex[at[i]] : t->edge[at[i]];
	return value;
}

#endif
