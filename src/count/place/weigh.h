/*
 * weigh: what counters on the edges of a procedure are expected to cost.
 */
#ifndef COUNT_PLACE_WEIGH_H
#define COUNT_PLACE_WEIGH_H

#include "count/place/feedback.h"
#include "count/map/map.h"

/* weights for its flow graph (map_graph.h), guessed from its shape */
void weigh_guess(struct arena *a, const struct map *m,
		 const struct map_proc *p, const struct graph *g,
		 struct weights *w);

/* weights from an earlier run; false, and nothing is filled, if unknown */
bool weigh_measured(struct arena *a, const struct map *m,
		    const struct map_proc *p, const struct graph *g,
		    const struct feedback *f, struct weights *w);

#endif
