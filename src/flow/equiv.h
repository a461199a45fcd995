/*
 * equiv: classes of edges and blocks that run equally often in every run.
 *
 * Two edges are cycle equivalent if every cycle through one runs through the
 * other. As a run, closed by exit -> root, is made of cycles, their counts are
 * then always equal: one estimate serves the whole class. (Johnson, Pearson &
 * Pingali, PLDI '94, section 3; DCPI 6.1.)
 *
 * The theorem behind the algorithm asks that every vertex reach exit and be
 * reached. Code that the root does not reach has no class. Where an infinite
 * loop never reaches exit, one way out is added: from the start of the first
 * vertex of the loop that a search meets, so that the trips round the loop
 * stay one class.
 */
#ifndef FLOW_EQUIV_H
#define FLOW_EQUIV_H

#include "flow/graph.h"

struct equiv {
	uint32_t n;       /* classes are 0 .. n-1 */
	uint32_t *edge;   /* class, or GRAPH_NONE where not reached */
	uint32_t *vertex; /* class, or GRAPH_NONE where not reached */
	uint32_t nways;   /* infinite loops .. */
	uint32_t *way;    /* .. and the vertices whose start got a way out */
};

/* fills *q, in the arena */
void equiv_find(struct arena *a, const struct graph *g, struct equiv *q);

#endif
