/*
 * forest: an undirected depth-first forest of a subset of a graph's edges,
 * and the biconnected components of that subset.
 *
 * The direction of edges is unimportant here: this is how spanning trees are
 * walked (Ball & Larus '92, section 2). Being depth-first, every edge of the
 * subset joins a vertex to one of its ancestors. When the subset is a tree it
 * is simply that tree, hung up at its root. The component of the procedure's
 * root is grown first, from that root; any other from its lowest vertex.
 */
#ifndef FLOW_FOREST_H
#define FLOW_FOREST_H

#include "flow/ladder.h"

struct forest {
	uint32_t roots;  /* components */
	uint32_t *order; /* all vertices, parents before children */
	uint32_t *pre;   /* place of v in order[] */
	uint32_t *up;    /* edge to v's parent; GRAPH_NONE for a root */
};

/* the forest of the edges e with in[e] */
void forest_grow(struct arena *a, const struct graph *g, const bool *in,
		 struct forest *f);

/* v's parent; requires: f->up[v] is an edge */
static inline uint32_t forest_parent(const struct graph *g,
				     const struct forest *f, uint32_t v)
{
	return graph_other_end(g, f->up[v], v);
}

/* a ladder on the forest: ancestors and meeting points of its vertices */
void forest_climb(struct arena *a, const struct graph *g,
		  const struct forest *f, struct ladder *l);

/*
 * block[e] for every edge of the subset: a number that two edges share iff a
 * simple cycle inside the subset runs through both; GRAPH_NONE for edges that
 * lie on no cycle (bridges) or outside the subset. Returns how many numbers
 * were given out.
 */
uint32_t forest_find_blocks(const struct graph *g, const bool *in,
			    const struct forest *f, uint32_t *block);

#endif
