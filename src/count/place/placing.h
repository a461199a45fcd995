/*
 * placing: the counters of some of an image's procedures, and what the map says
 * of these. Procedures know nothing of each other, so that threads may place
 * some each; all numbers begin with 0, and what was placed is put together in
 * order.
 */
#ifndef COUNT_PLACE_PLACING_H
#define COUNT_PLACE_PLACING_H

#include "count/map/map.h"
#include "count/place/counting_graph.h"
#include "flow/place.h"
#include "hooks/hooks.h"
#include "rewrite/survey/survey.h"

struct count_options;

struct placing {
	struct map map; /* what describes procedures; strings in its arena */
	VEC(struct insertion) insertion;
	VEC(uint32_t) counter; /* by insertion */
	VEC(struct hooks_jump) hooked; /* sites with hooks, as in the map */
	bool takes_slot; /* code was seen that does (isa/move.h) */
};

/* procedures `from` to `end` of the survey's cfg; t and sure: as struct
   counting_graph's */
void placing_make(struct placing *n, const struct survey *s,
		  const struct carriers *t, const struct count_options *o,
		  const bool *sure, uint32_t from, uint32_t end);
/* *n behind *all; only strings are left in *n, and stay in use */
void placing_append(struct placing *all, struct placing *n);

/*
 * places: which edges or blocks of a procedure that was drawn get a counter.
 */

/* what is expected to run */
struct traffic {
	const double *edge; /* by edge */
	const double *fall; /* by vertex: what falls through to the block */
};

/* does control fall through on the edge, from the block before? */
bool places_falls(const struct map_edge *e);
struct traffic places_traffic(struct arena *a, const struct counting_graph *d,
			      const struct map_proc *p, const struct graph *g,
			      const struct weights *w);
/* weights become what counters on edges cost, by what is expected to run */
void places_price(struct arena *a, const struct counting_graph *d,
		  const struct map_proc *p, const struct graph *g,
		  const struct traffic *t, struct weights *w);
/* fills *placed, in the arena, for the procedure's graph (map_graph.h) */
void places_choose(struct arena *a, const struct counting_graph *d,
		   const struct map_proc *p, const struct graph *g,
		   const struct weights *w, enum place_kind kind,
		   struct placement *placed);

#endif
