/*
 * graph: a control-flow graph as arrays indexed by 32-bit numbers.
 *
 * Vertices are 0 .. nv-1, edges 0 .. ne-1; edge e goes from[e] -> to[e].
 * Parallel edges and self loops are allowed. The edges around a vertex lie
 * together, ascending, in compressed rows:
 *
 *	out_first  0 2 3 3 ..      edges that leave v:
 *	            \ \            out[out_first[v] .. out_first[v + 1] - 1]
 *	out        4 7 1 ..        in_first and in: the same for arriving ones
 *
 * One edge is not code: the virtual edge exit -> root closes the flow so that
 * Kirchhoff's law holds at every vertex (Ball & Larus, POPL '92, section 2).
 * It is a row of the arrays like any other, always the last: its number is
 * `closing` == ne - 1, so the caller's own edges keep the numbers 0 .. ne-2.
 * Its count is how often the procedure was called.
 *
 * Invariants, checked by graph_seal():
 *	- exit is a vertex of its own, not code, and no edge but `closing`
 *	  leaves it. root == exit is excluded: the closing edge would be a self
 *	  loop, whose count no law determines. A one-block procedure is the
 *	  edge root -> exit.
 *	- root is any other vertex; edges may arrive there.
 * Nothing else is asked: vertices may be unreachable, may never reach exit
 * (infinite loops), or may have no edges at all.
 *
 * Hubs. When several indirect jumps share one set of targets, a virtual hub
 * vertex stands between them (doc/how-cfg-works.md):
 *
 *	jump a --\       /--> case 1
 *	jump b ---> hub ----> case 2
 *	jump c --/       \--> case 3
 *
 * The law and all block counts stay exact; how often a went to case 1 is not
 * known.
 */
#ifndef FLOW_GRAPH_H
#define FLOW_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

#define GRAPH_NONE UINT32_MAX

struct graph {
	uint32_t nv, ne;
	uint32_t root, exit;
	uint32_t closing; /* the virtual edge exit -> root, ne - 1 */
	uint32_t *from, *to;
	uint32_t *out_first, *out;
	uint32_t *in_first, *in;
	bool *is_virtual; /* vertices that are not code: exit and hubs */
};

/* a graph that is being drawn; `struct graph_sketch s = {0};` is empty */
struct graph_sketch {
	uint32_t nv;
	VEC(uint32_t) from, to;
	VEC(uint32_t) hubs;
};

/* e runs over the edges that leave (arrive at) v, `closing` included */
#define for_each_edge_out(e, g, v)                                             \
	for (uint32_t e##_i = (g)->out_first[v], e;                            \
	     e##_i < (g)->out_first[(v) + 1] && (e = (g)->out[e##_i], 1);      \
	     e##_i++)
#define for_each_edge_in(e, g, v)                                              \
	for (uint32_t e##_i = (g)->in_first[v], e;                             \
	     e##_i < (g)->in_first[(v) + 1] && (e = (g)->in[e##_i], 1);        \
	     e##_i++)

/* an array of n GRAPH_NONE, in the arena */
uint32_t *graph_nones(struct arena *a, uint32_t n);
/* an array 0, 1, 2, .. n-1, in the arena */
uint32_t *graph_identity(struct arena *a, uint32_t n);

/* n more vertices; returns the first one's number */
uint32_t graph_add_vertices(struct graph_sketch *s, uint32_t n);
/* the edge from -> to; returns its number */
uint32_t graph_add_edge(struct graph_sketch *s, uint32_t from, uint32_t to);
/* the edges first .. end-1 of another sketch, in their order */
void graph_add_edges(struct graph_sketch *s, const struct graph_sketch *other,
		     size_t first, size_t end);
/* a hub between ns jumps and nt targets; returns the hub's vertex */
uint32_t graph_add_hub(struct graph_sketch *s, const uint32_t *sources,
		       uint32_t ns, const uint32_t *targets, uint32_t nt);
void graph_sketch_free(struct graph_sketch *s);
/* *g becomes the finished graph, in the arena; the sketch is freed */
void graph_seal(struct arena *a, struct graph_sketch *s, uint32_t root,
		uint32_t exit, struct graph *g);

/* how many edges of code leave v */
static inline uint32_t graph_out_degree(const struct graph *g, uint32_t v)
{
	return v == g->exit ? 0 : g->out_first[v + 1] - g->out_first[v];
}

/* edges at v in either direction; a self loop is met twice */
static inline uint32_t graph_degree(const struct graph *g, uint32_t v)
{
	return g->out_first[v + 1] - g->out_first[v] + g->in_first[v + 1] -
	       g->in_first[v];
}

/* the i-th edge at v: leaving ones first; requires: i < graph_degree() */
static inline uint32_t graph_edge_at(const struct graph *g, uint32_t v,
				     uint32_t i)
{
	uint32_t out = g->out_first[v + 1] - g->out_first[v];

	return i < out ? g->out[g->out_first[v] + i]
		       : g->in[g->in_first[v] + i - out];
}

/* the end of e that is not v; v itself for a self loop */
static inline uint32_t graph_other_end(const struct graph *g, uint32_t e,
				       uint32_t v)
{
	return g->from[e] == v ? g->to[e] : g->from[e];
}

/*
 * split: a graph whose edges are both the edges and the vertices of another.
 *
 * Every vertex v becomes an edge from an in-end to an out-end, so that what
 * is true of edges becomes true of blocks (Ball '94, Fig. 2; and the G' of
 * Knuth and Stevenson is this graph with the old edges contracted):
 *
 *	--> v -->     becomes     --> v.in --block v--> v.out -->
 *
 * Numbers: v.in is 2v and v.out is 2v + 1; the edges of g but the closing one
 * keep their numbers, block v follows as edge g->closing + v, and the closing
 * edge is last again.
 */

static inline uint32_t split_in(uint32_t v)
{
	return 2 * v;
}

static inline uint32_t split_out(uint32_t v)
{
	return 2 * v + 1;
}

/* the edge of the split graph that is block v of g */
static inline uint32_t split_block(const struct graph *g, uint32_t v)
{
	return g->closing + v;
}

/* the edge of the split graph s that is edge e of g */
static inline uint32_t split_edge(const struct graph *g, const struct graph *s,
				  uint32_t e)
{
	return e == g->closing ? s->closing : e;
}

/* draws the split of g into an empty sketch, closing edge left out */
void split_draw(const struct graph *g, struct graph_sketch *s);
/* seals what split_draw() drew (and the caller added) as *s_out */
void split_seal(struct arena *a, const struct graph *g, struct graph_sketch *s,
		struct graph *s_out);

#endif
