/*
 * map_graph: a procedure of a map as a flow graph, the same where places for
 * counters are chosen and where counters are read. Edge i of the graph is edge
 * i of the procedure.
 *
 * Edges of a map also leave EXIT, which a graph's exit does not allow. So these
 * leave a virtual vertex, the root of the graph, and EXIT is another; the
 * closing edge joins them, and the law of flow says the same as if the two
 * were one. Its count, of all ways in together, is of no interest.
 */
#ifndef COUNT_MAP_MAP_GRAPH_H
#define COUNT_MAP_MAP_GRAPH_H

#include "count/map/map.h"
#include "flow/graph.h"

/* fills *g, in the arena */
void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g);

/* map_graph() step by step, for another choice of edges */
void map_graph_begin(struct graph_sketch *s, const struct map_proc *p);
/* between vertices of the map; returns its number */
uint32_t map_graph_add(struct graph_sketch *s, const struct map_proc *p,
		       uint32_t from, uint32_t to);
void map_graph_seal(struct arena *a, struct graph_sketch *s,
		    const struct map_proc *p, struct graph *g);

/*
 * callees: which addresses of an image are called, or jumped to, by other
 * procedures of it, as its map says.
 *
 * Control also comes to the middle of a procedure by a jump of its own that is
 * not understood, by way of the old text. That is no call.
 */

struct callees {
	VEC(uint64_t) v; /* ascending, after callees_sort() */
};

void callees_gather(struct callees *c, const struct map *m);
void callees_sort(struct callees *c);
bool callees_has(const struct callees *c, uint64_t address);
void callees_free(struct callees *c);

/*
 * Whether every cycle of the procedure's graph has a counter: then, if all its
 * counters are 0, nothing of it ran. Memory is taken from the arena and, for
 * what is unpacked, *x.
 */
bool map_counts_all_cycles(struct arena *a, const struct map *m, uint32_t proc,
			   struct map_inside *x);
/* by procedure: not map_counts_all_cycles(); to be freed with mem_free() */
bool *map_find_open(const struct map *m);

#endif
