/*
 * map_graph: a procedure of a map as a flow graph, the same for those who
 * choose places for counters and those who read them.
 *
 *	edge i of the graph   edge i of the procedure
 *	then                  EXIT -> the graph's exit
 *	closing               the graph's exit -> root
 *
 * Edges of a map also leave EXIT, which a graph's exit does not allow. So EXIT
 * is a virtual vertex like a hub, and the exit stands behind it; the law of
 * flow says the same as if the two were one.
 */
#ifndef COUNT_MAP_GRAPH_H
#define COUNT_MAP_GRAPH_H

#include "count/map.h"
#include "flow/graph.h"

/* fills *g, in the arena; requires: the procedure has blocks */
void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g);

#endif
