/*
 * match_edges: which edges of a procedure are which in another build of it.
 *
 * Where blocks have counterparts (match_blocks.h), an edge's is the one of its
 * kind between theirs; an edge to or from outside is known by the one block
 * that it has, what follows a call by the call. Of several that are alike (a
 * jump table with many ways to one place), as many in both, in their order.
 */
#ifndef REPORT_DIFF_MATCH_EDGES_H
#define REPORT_DIFF_MATCH_EDGES_H

#include "count/map/map.h"
#include "report/diff/match_blocks.h"

/*
 * Fills to[0 .. edges of p], by place in the procedure: place in q, or
 * MATCH_NONE. block: as match_blocks() says it of p's blocks.
 */
void match_edges(const struct map *m, const struct map_proc *p,
		 const struct map *n, const struct map_proc *q,
		 const uint32_t *block, uint32_t *to);

#endif
