/* map_graph: see map_graph.h. */
#include "count/map_graph.h"

/* what edges from EXIT leave, and what those to it arrive at */
static uint32_t outside(const struct map_proc *p)
{
	return map_exit(p);
}

static uint32_t graph_exit(const struct map_proc *p)
{
	return map_exit(p) + 1;
}

void map_graph_begin(struct graph_sketch *s, const struct map_proc *p)
{
	graph_add_vertices(s, graph_exit(p) + 1);
	for (uint32_t v = p->nblock; v <= outside(p); v++)
		vec_push(&s->hubs, v);
	vec_reserve(&s->from, p->nedge);
	vec_reserve(&s->to, p->nedge);
}

uint32_t map_graph_add(struct graph_sketch *s, const struct map_proc *p,
		       uint32_t from, uint32_t to)
{
	return graph_add_edge(s, from, to == map_exit(p) ? graph_exit(p) : to);
}

void map_graph_seal(struct arena *a, struct graph_sketch *s,
		    const struct map_proc *p, struct graph *g)
{
	graph_seal(a, s, outside(p), graph_exit(p), g);
}

void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	struct graph_sketch s = {0};

	map_graph_begin(&s, p);
	for (uint32_t i = 0; i < p->nedge; i++)
		map_graph_add(&s, p, e[i].from, e[i].to);
	map_graph_seal(a, &s, p, g);
}
