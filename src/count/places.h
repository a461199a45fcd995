/*
 * places: which edges or blocks of a procedure that was drawn get a counter.
 */
#ifndef COUNT_PLACES_H
#define COUNT_PLACES_H

#include "count/draw.h"
#include "flow/place.h"

/* what is expected to run */
struct traffic {
	const double *edge; /* by edge */
	const double *fall; /* by vertex: what falls through to the block */
};

/* does control fall through on the edge, from the block before? */
bool places_falls(const struct map_edge *e);
struct traffic places_traffic(struct arena *a, const struct drawing *d,
			      const struct map_proc *p, const struct graph *g,
			      const struct weights *w);
/* weights become what counters on edges cost, by what is expected to run */
void places_price(struct arena *a, const struct drawing *d,
		  const struct map_proc *p, const struct graph *g,
		  const struct traffic *t, struct weights *w);
/* fills *placed, in the arena, for the procedure's graph (map_graph.h) */
void places_choose(struct arena *a, const struct drawing *d,
		   const struct map_proc *p, const struct graph *g,
		   const struct weights *w, enum place_kind kind,
		   struct placement *placed);

#endif
