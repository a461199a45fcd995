/*
 * bits: bit tracing, the other way to code a path (Ball & Larus '94, 5.2).
 *
 * Every edge out of a k-way predicate writes its rank there in ceil(log2 k)
 * bits. The same codes serve at every predicate, for the reader knows where it
 * stands, and no blockers are needed: a choice is written where it is made.
 *
 * One addition to the paper, which has no infinite loops: a cycle without any
 * predicate would write nothing, and the trips made before the process was
 * stopped would be lost. One vertex of each such cycle writes a bit.
 */
#ifndef FLOW_BITS_H
#define FLOW_BITS_H

#include "flow/graph.h"

/* how many bits are written on leaving each vertex, 0 to 32 */
uint8_t *bits_place(struct arena *a, const struct graph *g);
/* the code that edge e writes: its rank among the edges out of its source */
uint32_t bits_code(const struct graph *g, uint32_t e);

#endif
