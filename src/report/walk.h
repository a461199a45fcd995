/*
 * walk: what is inside of procedures of a map: the ends of edges, and the
 * instructions of blocks.
 */
#ifndef REPORT_WALK_H
#define REPORT_WALK_H

#include "profile/counts.h"

/* how an edge of the map is called in every output */
const char *edge_name(const struct counts_image *m, uint32_t edge);

/*
 * Where an edge begins and where it leads, as addresses of blocks or, of calls
 * that are not sure to come back, of procedures.
 */
struct edge_ends {
	uint64_t from, to;
	bool has_from, has_to; /* false: not known, a hub, or nowhere */
	uint32_t hub; /* counted from 0 in the procedure */
	bool has_hub;
};
struct edge_ends edge_ends(const struct counts_image *m,
			   const struct map_proc *p, const struct map_edge *d);

/*
 * The instructions of a block, in order: begin with an empty walk; gives
 * the address of each; false at the end.
 */
struct insn_walk {
	uint32_t done;
	uint64_t next;
};
bool insn_next(const struct map *m, const struct map_block *b,
	       struct insn_walk *w, uint64_t *addr);

#endif
