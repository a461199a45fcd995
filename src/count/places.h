/*
 * places: which edges or blocks of a procedure that was drawn get a counter.
 */
#ifndef COUNT_PLACES_H
#define COUNT_PLACES_H

#include "count/draw.h"
#include "flow/place.h"

/* how often edges are expected to run becomes what a counter there costs */
void places_price(const struct drawing *d, const struct map_proc *p,
		  struct weights *w);
/* fills *placed, in the arena, for the procedure's graph (map_graph.h) */
void places_choose(struct arena *a, const struct drawing *d,
		   const struct map_proc *p, const struct graph *g,
		   const struct weights *w, enum place_kind kind,
		   struct placement *placed);

#endif
