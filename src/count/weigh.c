/*
 * weigh: see weigh.h. The graph is cut at calls, and loops with calls in them
 * would not look like loops. So weights are guessed on the graph with edges
 * over calls, and put where they belong.
 */
#include "count/weigh.h"

#include "count/map_graph.h"

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

	map_graph_begin(&s, p);
	for (uint32_t i = 0; i < p->nedge; i++) {
		bool over = e[i].kind == MAP_BACK;

		number[i] = GRAPH_NONE;
		if (e[i].kind != MAP_CALL || !back[e[i].from])
			number[i] = map_graph_add(&s, p, over ? e[i].call :
								e[i].from,
						  e[i].to);
	}
	map_graph_seal(a, &s, p, g);
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

bool weigh_measured(struct arena *a, const struct map *m,
		    const struct map_proc *p, const struct graph *g,
		    const struct feedback *f, struct weights *w)
{
	const uint64_t *edge = f ? feedback_edges(f, m, p) : NULL;
	uint64_t *count;

	if (!edge)
		return false;
	/* the closing edge costs nothing */
	count = ARENA_ARRAY(a, uint64_t, g->ne);
	memcpy(count, edge, p->nedge * sizeof *count);
	weight_measured(a, g, count, w);
	return true;
}
