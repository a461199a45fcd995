/*
 * weight: what a counter on an edge is expected to cost.
 *
 * Either guessed from the shape of the procedure (weight_guess) or measured by
 * an earlier run (weight_measured). Weights steer the choice of places and
 * nothing else: every placement is correct under any weights.
 */
#ifndef FLOW_WEIGHT_H
#define FLOW_WEIGHT_H

#include "flow/loop.h"

struct weights {
	double *edge;   /* finite, never negative */
	double *vertex; /* the sum of the edges that arrive */
};

/*
 * The heuristic of Ball & Larus from control flow alone. `likely` says of the
 * edges that leave a vertex, loops' exits aside, how likely they are beside
 * each other: positive numbers. NULL: all alike.
 */
void weight_guess(struct arena *a, const struct graph *g,
		  const double *likely, struct weights *w);
/* the counts of all edges in an earlier run */
void weight_measured(struct arena *a, const struct graph *g,
		     const uint64_t *count, struct weights *w);

#endif
