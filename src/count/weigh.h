/*
 * weigh: what counters on the edges of a procedure are expected to cost.
 */
#ifndef COUNT_WEIGH_H
#define COUNT_WEIGH_H

#include "count/map.h"

/*
 * The flow graph of a procedure of the map, in the arena. Edges keep their
 * order. Those from EXIT leave a vertex of their own, the root: the closing
 * edge leads there and counts them together, so that frames may come from
 * anywhere.
 */
void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g);
/* weights for it, guessed from its shape (flow/weight.h) */
void weigh_guess(struct arena *a, const struct map *m,
		 const struct map_proc *p, const struct graph *g,
		 struct weights *w);

#endif
