/*
 * codes: the bits that edges write to a trace.
 *
 * Whoever regenerates a path stands at a vertex and wants to know which of the
 * witnesses that may come next has been written (witness(p, q) of Ball & Larus
 * '92, 4.1, for all successors q together). So it is enough that the codes of
 * these differ, and none is the beginning of another. Two witnesses that are
 * never wanted at the same place may have the same code:
 *
 *	witnesses that are wanted together	conflict
 *	conflict graph, coloured by weight	colours: as few as need be
 *	Huffman codes of the colours		few bits for what runs often
 *
 * Bit tracing (Ball & Larus '94, 5.2) is the case in which every edge out of a
 * predicate is a witness: a branch with two ways takes one bit.
 */
#ifndef FLOW_CODES_H
#define FLOW_CODES_H

#include "flow/graph.h"

enum {
	CODES_LONGEST = 14, /* bits of a code */
	/* witnesses that are wanted, over all vertices; with more there are no
	   codes: sets of them grow with the square of the graph */
	CODES_MOST = 1 << 20,
};

struct codes {
	uint8_t *length; /* by edge: bits that it writes, or 0 */
	uint16_t *bits;  /* the last one written is the lowest */
	double cost;	 /* bits, by weight */
};

/*
 * The codes of the edges with on[e], which is a placement of witnesses
 * (witness.h), or has all edges out of predicates. False: there are too many,
 * *c is undefined.
 */
bool codes_assign(struct arena *a, const struct graph *g, const bool *on,
		  const double *weight, struct codes *c);

/*
 * on[] of bit tracing: all edges out of predicates and one of each cycle that
 * has no predicate, the rounds of which would not be known.
 */
bool *codes_of_branches(struct arena *a, const struct graph *g);

/* witnesses that may come next, and the edges on the ways to them */
struct codes_wanted {
	VEC(uint32_t) edge;
	/* of each: where in `way` the edges without a witness begin that lead
	   there, the first one last; up to those of the next */
	VEC(uint32_t) first;
	VEC(uint32_t) way;
	VEC(uint32_t) todo, path; /* for the time being */
};

/*
 * Finds those of vertex v, in *w, which is emptied first. False: more than
 * `most` edges would have to be gone along, or a cycle of them has no witness.
 */
bool codes_want(const struct graph *g, const bool *on, uint32_t v, size_t most,
		struct codes_wanted *w);
void codes_wanted_free(struct codes_wanted *w);

#endif
