/*
 * event: one counter for all events of a program, exact at every query.
 *
 * Each block and edge has a constant number of events (instructions, say).
 * Only the chords of a spanning tree add to the counter, each its own constant
 * (Ball '94). Think of a height for every point of the procedure, such that
 * going along a tree edge or through a block changes it by exactly the events
 * there. The root lies at 0. Then
 *
 *	Increment(u -> v)  =  events(u -> v)
 *	                      + height(end of u) - height(start of v)
 *	QueryInc(point)    =  height(point)
 *
 * because a run's events are the sum of the rises along it, and only chords
 * have rises that the height does not already tell. The closing edge is in the
 * tree, so that exit lies at 0 too and a whole call needs no correction.
 *
 * Across procedures the counter must be exact inside the callee, so before a
 * call the query increment is added and after it subtracted. Where a chord
 * that is instrumented anyway is the only way to or from the call block, the
 * amount goes into that chord. A frame that ends early adds query_end[v].
 *
 * Numbers are modulo 2^64, like the counter.
 */
#ifndef FLOW_EVENT_H
#define FLOW_EVENT_H

#include "flow/tree.h"

struct event_plan {
	int64_t *increment;   /* of edge e; 0: no code there */
	int64_t *query_start; /* counter + this is exact before block v */
	int64_t *query_end;   /* .. and after block v, before any call */
	int64_t *before_call; /* added at the end of call block v */
	int64_t *after_call;  /* added when the call of v has returned */
	uint32_t n;           /* edges with an increment */
};

/*
 * Fills *x, in the arena. t is a spanning tree of g with the closing edge; if
 * t->blind is not 0, some increment may be on an edge that cannot carry it.
 * at_vertex and at_edge are the events (NULL: none), calls[v] says that block
 * v ends in a call (NULL: none do). The events of a call block happen before
 * its call.
 */
void event_place(struct arena *a, const struct graph *g, const struct tree *t,
		 const int64_t *at_vertex, const int64_t *at_edge,
		 const bool *calls, struct event_plan *x);

#endif
