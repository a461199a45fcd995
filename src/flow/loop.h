/*
 * loop: the loops of a procedure and how they nest.
 *
 * A back edge leads to an ancestor in the depth-first search; its target is a
 * loop entry. The loop of an entry h is the union of the natural loops of its
 * back edges: all vertices that reach h again without leaving the part below
 * h (Ball & Larus '94, section 6, "Heuristic weighting"). Any two loops are
 * disjoint or nested.
 *
 * In a reducible graph these are exactly the natural loops. An irreducible
 * loop, one that can also be entered beside h, is marked so; its body is then
 * what lies below h in the search, which is an approximation good enough for
 * weights and never used for exact results.
 */
#ifndef FLOW_LOOP_H
#define FLOW_LOOP_H

#include "flow/dfs.h"
#include "flow/ladder.h"

struct loops {
	uint32_t n;
	uint32_t *entry;    /* of loop l; inner loops before outer ones */
	uint32_t *exits;    /* edges that leave loop l */
	bool *irreducible;  /* loop l has further entries */
	uint32_t *of;       /* innermost loop of vertex v, or GRAPH_NONE */
	bool *leaves;       /* edge e leaves the innermost loop of its source */
	struct ladder nest; /* nest.parent[l]: the loop around l */
};

/* fills *l, in the arena; d is dfs_search()'s result for g */
void loop_find(struct arena *a, const struct graph *g, const struct dfs *d,
	       struct loops *l);

/* whether v is in loop x (or in a loop inside it) */
bool loop_contains(const struct loops *l, uint32_t x, uint32_t v);

#endif
