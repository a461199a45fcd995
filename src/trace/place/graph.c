/* graph: see graph.h. */
#include "trace/place/graph.h"

void trace_graph_make(struct arena *a, const struct map_proc *p,
		      const struct map_edge *edge, struct trace_graph *t)
{
	struct graph_sketch s = {0};
	uint32_t out = map_exit(p), first, last;

	graph_add_vertices(&s, out);
	first = s.nv;
	for (uint32_t i = 0; i < p->nedge; i++) {
		uint32_t from = edge[i].from, to = edge[i].to;

		if (from == out)
			from = graph_add_vertices(&s, 1);
		if (to == out)
			to = graph_add_vertices(&s, 1);
		graph_add_edge(&s, from, to);
	}
	last = s.nv;
	graph_add_vertices(&s, 2); /* its root and exit lead nowhere */
	graph_seal(a, &s, last, last + 1, &t->g);
	t->ends = ARENA_ARRAY(a, bool, t->g.nv);
	for (uint32_t v = first; v < last; v++)
		t->ends[v] = !graph_out_degree(&t->g, v);
}
