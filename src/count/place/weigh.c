/*
 * weigh: see weigh.h. The graph is cut at calls, and loops with calls in them
 * would not look like loops. So weights are guessed on the graph with edges
 * over calls, and put where they belong.
 *
 * Which way a branch goes is guessed from what the two ways lead to (Ball and
 * Larus, "Branch prediction for free", PLDI '93), and from where they lie:
 * compilers, which know more, let the likely way fall through.
 */
#include "count/place/weigh.h"

#include "count/map/map_graph.h"

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

/*
 * How likely a way is, by what is known of it, where a way of which nothing
 * is known has 1. Found by trying: bench/placements.c says what a choice
 * costs. That a way returns, or what is compared with what, tells no more.
 */
static const double taken_forward = 0.6, to_call = 0.6, to_end = 0.01,
		    by_exception = 0.01, by_side_door = 0.1;

/* by vertex: bits of how its block ends */
enum { ENDS_CALL = 1, ENDS_FOR_GOOD = 2 };

static uint8_t *find_exits(struct arena *a, const struct map *m,
			   const struct map_proc *p)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	uint8_t *ends = ARENA_ARRAY(a, uint8_t, map_exit(p) + 1);

	for (uint32_t i = 0; i < p->nedge; i++) {
		if (e[i].kind == MAP_CALL || e[i].kind == MAP_OVER)
			ends[e[i].from] |= ENDS_CALL;
		if (e[i].kind == MAP_NORETURN)
			ends[e[i].from] |= ENDS_FOR_GOOD;
	}
	return ends;
}

static double likely(const struct map_proc *p, const struct map_edge *e,
		     const uint8_t *ends)
{
	double x = 1;

	if (e->kind == MAP_PAD)
		return by_exception;
	if (e->kind == MAP_ENTRY)
		return e->to == p->root ? 1 : by_side_door;
	if (e->kind == MAP_NORETURN)
		return to_end;
	if (e->to >= p->nblock || e->kind == MAP_BACK)
		return 1;
	if (e->kind == MAP_TAKEN && e->to > e->from)
		x *= taken_forward;
	if (ends[e->to] & ENDS_CALL)
		x *= to_call;
	return ends[e->to] & ENDS_FOR_GOOD ? x * to_end : x;
}

/* for the edges of the whole graph */
static const double *likely_edges(struct arena *a, const struct map *m,
				  const struct map_proc *p,
				  const struct graph *g,
				  const uint32_t *number)
{
	const uint8_t *ends = find_exits(a, m, p);
	double *all = ARENA_ARRAY(a, double, g->ne);

	all[g->closing] = 1;
	for (uint32_t i = 0; i < p->nedge; i++)
		if (number[i] != GRAPH_NONE)
			all[number[i]] = likely(p, &m->edge.at[p->edge + i],
						ends);
	return all;
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
	weight_guess(&scratch, &whole,
		     likely_edges(&scratch, m, p, &whole, number), &guess);
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
