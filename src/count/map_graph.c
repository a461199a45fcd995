/* map_graph: see map_graph.h. */
#include "count/map_graph.h"

void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g)
{
	struct graph_sketch s = {0};
	uint32_t outside = map_exit(p);
	uint32_t exit = outside + 1;

	graph_add_vertices(&s, exit + 1);
	for (uint32_t v = p->nblock; v <= outside; v++)
		vec_push(&s.hubs, v);
	vec_reserve(&s.from, p->nedge + 1);
	vec_reserve(&s.to, p->nedge + 1);
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct map_edge *d = &m->edge.at[p->edge + i];

		graph_add_edge(&s, d->from, d->to);
	}
	graph_add_edge(&s, outside, exit);
	graph_seal(a, &s, p->root, exit, g);
}
