/*
 * builder: what the flow graph of a procedure is built with, vertex by
 * vertex and edge by edge.
 */
#ifndef COUNT_PLACE_BUILDER_H
#define COUNT_PLACE_BUILDER_H

#include "count/place/counting_graph.h"

/* a procedure while it is drawn */
struct builder {
	struct counting_graph *d;
	const struct cfg *c;
	struct map_proc p;
	bool fine; /* every instruction is a vertex */
};

/* a provisional number, see builder_finish() */
#define EXIT_MARK (MAP_NONE - 1)

/* begins procedure p of the cfg */
struct builder builder_begin(struct counting_graph *d, uint32_t p);
/* the vertex that edges to the block lead to; MAP_NONE: it stays, or is not of
   the procedure */
uint32_t builder_first(const struct builder *n, uint32_t b);
/* the vertex that edges of the block leave */
uint32_t builder_last(const struct builder *n, uint32_t b);
/* vertices for the instructions of a block of the cfg: one, or one each */
void builder_block(struct builder *n, uint32_t b);
struct map_edge *builder_edge(struct builder *n, enum map_kind kind,
			      uint32_t from, uint32_t to,
			      struct code_place way);
/* call_sites.c: adds the indirect jumps and calls that end its blocks */
void builder_add_sites(struct builder *n);
/* appends the procedure to the map; EXIT gets its number */
void builder_finish(struct builder *n);

#endif
