/*
 * ladder: ancestors of a node at any depth, and lowest common ancestors, in
 * O(log n) with one extra pointer per node (Myers '83). Each node keeps its
 * parent and one rung far above it; the lengths of the rungs follow the
 * skew-binary numbers, so that climbing alternates few long and few short
 * steps. Works for forests: nodes of two trees meet at GRAPH_NONE.
 */
#ifndef FLOW_LADDER_H
#define FLOW_LADDER_H

#include "flow/graph.h"

struct ladder {
	uint32_t *parent; /* GRAPH_NONE for a root */
	uint32_t *rung;   /* an ancestor; a root's is itself */
	uint32_t *depth;  /* 0 for a root */
};

/* room for n nodes; each is then added once, parents before children */
void ladder_init(struct arena *a, struct ladder *l, uint32_t n);
/* node v below parent, which is GRAPH_NONE or already added */
void ladder_add(struct ladder *l, uint32_t v, uint32_t parent);
/* v's ancestor (or v) at this depth; requires: depth <= depth of v */
uint32_t ladder_climb(const struct ladder *l, uint32_t v, uint32_t depth);
/* the deepest node above or at both u and v, or GRAPH_NONE */
uint32_t ladder_meet(const struct ladder *l, uint32_t u, uint32_t v);

#endif
