/*
 * place: where to put counters. Four answers (Ball & Larus '94, section 3):
 *
 *	PLACE_EDGES         counters on edges tell every edge and block
 *	                    EProf(Ecnt): chords of a maximum spanning tree
 *	PLACE_VERTICES      counters in blocks tell every block
 *	                    VProf(Vcnt): Knuth and Stevenson, BIT '73
 *	PLACE_VERTEX_EDGES  counters on edges tell every block, perhaps not
 *	                    every edge; VProf(Ecnt), by a heuristic
 *	PLACE_REDUNDANT     a counter in every block: the baseline
 *
 * What the counters tell is computed by propagate.h, which needs only the
 * list of places. No counter is ever on the closing edge, on exit or on a hub.
 */
#ifndef FLOW_PLACE_H
#define FLOW_PLACE_H

#include "flow/tree.h"
#include "flow/weight.h"

enum place_kind {
	PLACE_EDGES,
	PLACE_VERTICES,
	PLACE_VERTEX_EDGES,
	PLACE_REDUNDANT,
	/* none of these: chords add constants to running counters (event.h),
	   which tell of no place how often it ran */
	PLACE_RUNNING,
	/* nor these: edges write codes to a trace (codes.h) */
	PLACE_TRACE,
};

/* what cannot be counted: instrumenting there would break the program */
struct place_limits {
	const bool *edge;   /* edge e carries no code; NULL: all may */
	const bool *vertex; /* block v carries no code; NULL: all may */
};

struct placement {
	enum place_kind kind;
	uint32_t n;
	uint32_t *at; /* ascending edges, or vertices for the vertex kinds */
	double cost;  /* sum of their weights */
	/*
	 * Places that needed a counter but are barred by the limits. If not 0
	 * propagation still works and says which counts are unknown.
	 */
	uint32_t blind;
};

/* whether the counters are in blocks, not on edges */
static inline bool place_on_vertices(enum place_kind kind)
{
	return kind == PLACE_VERTICES || kind == PLACE_REDUNDANT;
}

/* fills *p, in the arena; limits may be NULL */
void place_counters(struct arena *a, const struct graph *g,
		    const struct weights *w, const struct place_limits *limits,
		    enum place_kind kind, struct placement *p);

/*
 * place_pipeless.c: clears counted[e] of chords that VProf(Ecnt) can spare.
 * requires: in_tree spans, and no counted edge is in it.
 */
void place_drop_pipeless(const struct graph *g, const bool *in_tree,
			 bool *counted);

#endif
