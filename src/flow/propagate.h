/*
 * propagate: from the values of the counters to every count that they tell.
 *
 * Kirchhoff's law holds at every vertex: what arrives, leaves. Whatever was
 * not counted follows from what was, as far as it is determined at all; each
 * count comes with a flag that says whether it is known, and nothing is ever
 * invented. Works for any set of places, also for those that place_counters()
 * would not choose.
 *
 * Frames that do not follow the edges are given as extra flows:
 *
 *	death[v]  frames that ended inside v without reaching exit: v -> exit
 *	birth[v]  frames that began to exist at the start of v without having
 *	          been called: exit -> v (fork child, second return of setjmp)
 *
 * A block in which a frame died, or was born, counts as executed. Deaths and
 * births at exit itself are meaningless and must be 0.
 *
 * A known count that comes out negative or above 64 bits, or that two
 * derivations give differently, makes the whole procedure inconsistent. The
 * numbers are then left as they came out, modulo 2^64, never clamped.
 */
#ifndef FLOW_PROPAGATE_H
#define FLOW_PROPAGATE_H

#include "flow/place.h"

struct propagate_flows {
	const uint64_t *death; /* per vertex, or NULL: none */
	const uint64_t *birth; /* per vertex, or NULL: none */
};

struct propagation {
	bool consistent;
	uint64_t *edge, *vertex;
	bool *edge_known, *vertex_known;
};

/*
 * Fills *r, in the arena, from value[i], the counter at p->at[i]. flows may be
 * NULL. The number of calls is r->edge[g->closing], if known.
 */
void propagate_counts(struct arena *a, const struct graph *g,
		      const struct placement *p, const uint64_t *value,
		      const struct propagate_flows *flows,
		      struct propagation *r);

#endif
