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
#ifndef FLOW_SPLIT_H
#define FLOW_SPLIT_H

#include "flow/graph.h"

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
