/* graph_builder_int: what draws procedures, and what draws stubs. */
#ifndef COUNT_PLACE_GRAPH_BUILDER_INT_H
#define COUNT_PLACE_GRAPH_BUILDER_INT_H

#include "count/place/graph_builder.h"

/* a procedure while it is drawn */
struct pen {
	struct drawing *d;
	const struct cfg *c;
	struct map_proc p;
	bool fine; /* every instruction is a vertex */
};

/* a provisional number, see pen_finish() */
#define EXIT_MARK (MAP_NONE - 1)

/* begins procedure p of the cfg */
struct pen pen_begin(struct drawing *d, uint32_t p);
/* the vertex that edges of the block leave */
uint32_t pen_last(const struct pen *n, uint32_t b);
/* vertices for the instructions of a block of the cfg: one, or one each */
void pen_block(struct pen *n, uint32_t b);
struct map_edge *pen_edge(struct pen *n, enum map_kind kind, uint32_t from,
			  uint32_t to, struct way way);
/* call_sites.c: adds the indirect jumps and calls that end its blocks */
void draw_sites(struct pen *n);
/* appends the procedure to the map; EXIT gets its number */
void pen_finish(struct pen *n);

#endif
