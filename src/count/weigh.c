/*
 * weigh: see weigh.h. The graph is cut at calls, and loops with calls in them
 * would not look like loops. So weights are guessed on the graph with edges
 * over calls, and put where they belong.
 */
#include "count/weigh.h"

/* what edges from EXIT leave, and what those to it arrive at */
static uint32_t outside(const struct map_proc *p)
{
	return map_exit(p);
}

static uint32_t graph_exit(const struct map_proc *p)
{
	return map_exit(p) + 1;
}

/* vertices of a procedure; those behind its blocks are no code */
static void sketch_vertices(struct graph_sketch *s, const struct map_proc *p)
{
	graph_add_vertices(s, graph_exit(p) + 1);
	for (uint32_t v = p->nblock; v <= outside(p); v++)
		vec_push(&s->hubs, v);
}

static uint32_t sketch_edge(struct graph_sketch *s, const struct map_proc *p,
			    uint32_t from, uint32_t to)
{
	return graph_add_edge(s, from, to == map_exit(p) ? graph_exit(p) : to);
}

void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	struct graph_sketch s = {0};

	sketch_vertices(&s, p);
	for (uint32_t i = 0; i < p->nedge; i++)
		sketch_edge(&s, p, e[i].from, e[i].to);
	graph_seal(a, &s, outside(p), graph_exit(p), g);
}

/* by vertex: some call of its comes back */
static bool *comes_back(struct arena *a, const struct map *m,
			const struct map_proc *p)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	bool *back = ARENA_ARRAY(a, bool, p->nblock);

	for (uint32_t i = 0; i < p->nedge; i++)
		if (e[i].kind == MAP_BACK)
			back[e[i].call] = true;
	return back;
}

/*
 * The graph with edges over calls; number[i] is what edge i of the map became
 * in it, GRAPH_NONE if nothing.
 */
static void whole_graph(struct arena *a, const struct map *m,
			const struct map_proc *p, struct graph *g,
			uint32_t *number)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	const bool *back = comes_back(a, m, p);
	struct graph_sketch s = {0};

	sketch_vertices(&s, p);
	for (uint32_t i = 0; i < p->nedge; i++) {
		bool over = e[i].kind == MAP_BACK;

		number[i] = GRAPH_NONE;
		if (e[i].kind != MAP_CALL || !back[e[i].from])
			number[i] = sketch_edge(&s, p, over ? e[i].call :
							      e[i].from,
						e[i].to);
	}
	graph_seal(a, &s, outside(p), graph_exit(p), g);
}

void weigh_guess(struct arena *a, const struct map *m,
		 const struct map_proc *p, const struct graph *g,
		 struct weights *w)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	struct arena scratch = {0};
	uint32_t *number = ARENA_ARRAY(&scratch, uint32_t, p->nedge);
	struct weights guess;
	struct graph whole;

	whole_graph(&scratch, m, p, &whole, number);
	weight_guess(&scratch, &whole, &guess);
	w->edge = ARENA_ARRAY(a, double, g->ne);
	w->vertex = ARENA_ARRAY(a, double, g->nv);
	for (uint32_t i = 0; i < p->nedge; i++)
		w->edge[i] = number[i] == GRAPH_NONE ?
				     guess.vertex[e[i].from] :
				     guess.edge[number[i]];
	for (uint32_t i = 0; i < g->ne; i++)
		w->vertex[g->to[i]] += w->edge[i];
	arena_free(&scratch);
}
