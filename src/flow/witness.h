/*
 * witness: which edges write to a trace, so that the whole path can be told.
 *
 * A witness names the edge that wrote it. Between two witnesses there must be
 * one way only: the edges without a witness may hold no directed cycle and no
 * diamond (two paths from one vertex to another). The chords of any spanning
 * tree are enough (Ball & Larus '92, Theorem 4.2), and as the rest is then a
 * forest, the way between two witnesses is a path in it: regen.h. The closing
 * edge does not exist here.
 *
 * Predicate: a vertex that more than one edge leaves. The paper asks for two
 * distinct successors; here parallel edges are told apart as well, so that
 * the trace gives edges, not only vertices.
 *
 * Several procedures in one stream need the blocking property: no predicate
 * reaches a call or exit without passing a witness, so that the next witness
 * in the stream is always of the procedure that wants one (4.2).
 */
#ifndef FLOW_WITNESS_H
#define FLOW_WITNESS_H

#include "flow/graph.h"

/* whether more than one edge of code leaves v */
static inline bool witness_is_predicate(const struct graph *g, uint32_t v)
{
	return graph_out_degree(g, v) > 1;
}

struct witnesses {
	bool *on; /* edge e writes a witness */
	uint32_t n;
	double cost;
	/*
	 * Edges that need a witness but are barred. If not 0 the procedure
	 * cannot be traced by witnesses.
	 */
	uint32_t blind;
};

/*
 * Places witnesses for a procedure whose trace is a stream of its own.
 * weight[] is per edge; barred[e]: e cannot carry code (NULL: all can).
 */
void witness_place(struct arena *a, const struct graph *g, const double *weight,
		   const bool *barred, struct witnesses *w);
/*
 * Places witnesses with the blocking property, for a stream that several
 * procedures share: blockers first, then chords. calls[v]: block v ends in a
 * call (NULL: none does).
 */
void witness_place_blocking(struct arena *a, const struct graph *g,
			    const double *weight, const bool *barred,
			    const bool *calls, struct witnesses *w);

#endif
