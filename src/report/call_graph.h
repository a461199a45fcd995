/*
 * call_graph: what procedures cost, shared out among their callers, of one
 * event of a run in which calls were measured (profile/run_calls.h).
 *
 * What is measured is the cost of each call, with all that the callee did, by
 * call site and callee: by arc of the call graph, not by path. If several
 * procedures call one, its callees' cost is shared out among these callers in
 * proportion to their arcs. Without recursion, arcs are as they were measured:
 *
 *	main --30--> a --30--> work        10 of fib are of a,
 *	main --60--> b --60--> work        20 of b: a guess, if work
 *	             work --30--> fib      does other things for each
 *
 * Recursion has no part in it. Calls of what is open on the way from the root
 * (back edges of a depth-first search along the dearest arcs first) are left
 * out: what they cost is a part of the outermost call, also where several
 * procedures call each other in turn. What a thread begins with is called by
 * the procedure that made it (clone()), and no part of what that cost: it has
 * a root of its own.
 */
#ifndef REPORT_CALL_GRAPH_H
#define REPORT_CALL_GRAPH_H

#include "profile/run_calls.h"

enum vertex_kind {
	VERTEX_ALL,	/* the run; number 0 */
	VERTEX_OUTSIDE, /* code that is not counted and calls; number 1 */
	VERTEX_THREAD,	/* calls what threads begin with; number 2 */
	VERTEX_SIGNAL,
	VERTEX_UNCOUNTED, /* code that is not counted and is called */
	VERTEX_PROC,
};

struct call_vertex {
	uint8_t kind;	      /* enum vertex_kind */
	uint8_t signal;	      /* its number */
	uint32_t image, proc; /* CALL_NONE: not known */
	uint64_t addr;	      /* of what is not counted; 0: not known */
	const char *name, *image_name;
	const struct run_procedure *is; /* what was measured of it, or NULL */
	double own;		/* its own cost; 0, if it is not known */
	bool own_known;
	double worth;		/* what its calls cost, recursive ones aside */
	double scale; /* what of its callees' shares fits in there */
	bool reached;		/* else nothing is known to call it */
	uint32_t first, narc;	/* its callees, dearest first, in arc[] */
};

struct call_arc {
	uint32_t from, to;
	double cost;	/* that was measured; from outside: without what is
			   a part of calls of what is not counted */
	bool known;	/* else the cost is not */
	bool measured;	/* the share is what was measured */
	double share;	/* of the callee's worth */
};

struct call_graph {
	struct run_calls *r;
	unsigned event; /* its number */
	VEC(struct call_vertex) vertex;
	VEC(struct call_arc) arc; /* by caller; no recursive ones */
	struct run_procedures procs;
};

/* requires: *r stays */
void call_graph_make(struct call_graph *g, struct run_calls *r,
		     unsigned event);
void call_graph_free(struct call_graph *g);

#endif
