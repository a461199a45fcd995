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
#include "count/solve/solve.h"
#include "flow/graph.h"

/* fills *g, in the arena */
void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g);

/* the same step by step, for another choice of edges */
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
 * stubs: how often the linker's stubs ran. They stay as they are, as unwinders
 * and debuggers know them by their bytes; but all calls of them are known.
 */

/* procedures from the first stub to behind the last: the linker's few pages */
struct stubs {
	size_t first, end;
};
struct stubs stubs_of(const struct map *m);

/* a procedure comes to a stub */
struct stub_call {
	uint32_t stub, proc;
	uint64_t count;
	bool known;
};

struct stub_calls {
	struct stubs stubs;
	VEC(struct stub_call) v;
};

/* adds those of a procedure, which has to be there */
void stub_calls_list(struct stub_calls *c, const struct solved *s,
		     uint32_t proc);
/* how often stubs were called, by one list of several */
void stub_calls_add(const struct stub_calls *c, struct solved *s);

/* what calls of a stub say is what its block and edges say */
void solve_stub(const struct solved *s, uint32_t proc);

#endif
