/*
 * graph: a procedure as traces see it, and what its edges write.
 *
 * Edges are those of the map (count/map/map.h), with the same numbers. In the
 * map all ways out lead to EXIT; here each has an end of its own, and so has
 * each way in, for a trace goes on elsewhere in between: witnesses of one call
 * are no witnesses of the next.
 */
#ifndef TRACE_PLACE_GRAPH_H
#define TRACE_PLACE_GRAPH_H

#include "count/map/map.h"
#include "flow/graph.h"

struct trace_graph {
	struct graph g; /* closing edge included, from a vertex of its own */
	bool *ends; /* by vertex: a way out ends there (witness.h's calls) */
};

/* of a procedure with these edges, in the arena */
void trace_graph_make(struct arena *a, const struct map_proc *p,
		      const struct map_edge *edge, struct trace_graph *t);

#endif
