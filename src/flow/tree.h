/*
 * tree: a maximum spanning tree, the heart of every placement.
 *
 * The edges outside the tree, the chords, are those that get code; a maximum
 * tree leaves the cheapest chords (Ball & Larus '92, 3.1). Direction does not
 * matter. Where a graph is not connected (unreachable code) the result is a
 * spanning forest: one tree for each connected part, and all that is said of
 * the tree holds for each.
 *
 * The closing edge carries no code, so it is a seed: in the tree before any
 * other is looked at, unless its rule is TREE_NEVER (tracing, where the edge
 * does not exist).
 */
#ifndef FLOW_TREE_H
#define FLOW_TREE_H

#include <stdint.h>

#include "flow/graph.h"

enum tree_rule {
	TREE_FREE,  /* by weight */
	TREE_MUST,  /* cannot carry code: before any free edge */
	TREE_SEED,  /* no code and not missed if outside: before all others */
	TREE_NEVER, /* is instrumented anyway: not in the tree */
};

struct tree {
	bool *in; /* edge e is in the tree */
	/*
	 * TREE_MUST edges that had to stay outside because such edges alone
	 * close a cycle. They would need code and cannot have it.
	 */
	uint32_t blind;
};

/*
 * The tree of largest weight that obeys rule[] (NULL: all free). Among edges
 * of equal weight the lower number wins.
 */
void tree_span(struct arena *a, const struct graph *g, const double *weight,
	       const uint8_t *rule, struct tree *t);

/*
 * unite: disjoint sets as an array (union-find). of[v] leads towards the
 * representative of v's set, which leads to itself; graph_identity() is all
 * sets of one. Setting of[a] = b for two representatives unites their sets.
 */

/* the representative of v's set; the way there is halved for the next time */
static inline uint32_t unite_find(uint32_t *of, uint32_t v)
{
	while (of[v] != v) {
		of[v] = of[of[v]];
		v = of[v];
	}
	return v;
}

#endif
