/* split: see split.h. */
#include "flow/split.h"

#include <assert.h>

void split_draw(const struct graph *g, struct graph_sketch *s)
{
	assert(s->nv == 0 && g->nv < GRAPH_NONE / 2);
	graph_add_vertices(s, 2 * g->nv);
	for (uint32_t e = 0; e < g->closing; e++)
		graph_add_edge(s, split_out(g->from[e]), split_in(g->to[e]));
	for (uint32_t v = 0; v < g->nv; v++)
		graph_add_edge(s, split_in(v), split_out(v));
}

void split_seal(struct arena *a, const struct graph *g, struct graph_sketch *s,
		struct graph *s_out)
{
	graph_seal(a, s, split_in(g->root), split_out(g->exit), s_out);
}
