/*
 * bracket: cycle equivalence of the edges of an undirected graph, in linear
 * time. Two edges are equivalent if every cycle through one runs through the
 * other. What that means for procedures is in equiv.h; bracket.c is the lesson.
 */
#ifndef FLOW_BRACKET_H
#define FLOW_BRACKET_H

#include "flow/graph.h"

/*
 * Fills class[e] for the edges with in[e], GRAPH_NONE for the others. An edge
 * on no cycle has a class to itself. Returns how many classes there are.
 * requires: no self loops.
 */
uint32_t bracket_classify(const struct graph *g, const bool *in,
			  uint32_t *class);

#endif
