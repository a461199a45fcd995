/* event: see event.h. */
#include "flow/event.h"

#include "flow/forest.h"

struct event_work {
	const struct graph *g;
	const int64_t *at_vertex, *at_edge;
	struct event_plan *x;
};

/* a + b and a - b modulo 2^64 */
static int64_t event_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t event_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* the events of block v, of edge e */
static int64_t event_of_vertex(const struct event_work *k, uint32_t v)
{
	return k->at_vertex ? k->at_vertex[v] : 0;
}

static int64_t event_of_edge(const struct event_work *k, uint32_t e)
{
	return k->at_edge ? k->at_edge[e] : 0;
}

/* the heights of v's start and end from its parent's, across edge e */
static void event_climb(struct event_work *k, uint32_t v, uint32_t e)
{
	struct event_plan *x = k->x;
	uint32_t p;

	if (e == GRAPH_NONE) {
		x->query_start[v] = 0;
	} else if (k->g->to[e] == v) {
		p = k->g->from[e];
		x->query_start[v] =
			event_add(x->query_end[p], event_of_edge(k, e));
	} else {
		p = k->g->to[e];
		x->query_end[v] =
			event_sub(x->query_start[p], event_of_edge(k, e));
		x->query_start[v] =
			event_sub(x->query_end[v], event_of_vertex(k, v));
		return;
	}
	x->query_end[v] = event_add(x->query_start[v], event_of_vertex(k, v));
}

/* increments of all chords; those of tree edges are 0 */
static void event_fill_chords(struct event_work *k, const struct tree *t)
{
	struct event_plan *x = k->x;

	for (uint32_t e = 0; e < k->g->ne; e++) {
		int64_t rise;

		if (t->in[e])
			continue;
		rise = event_sub(x->query_end[k->g->from[e]],
				 x->query_start[k->g->to[e]]);
		x->increment[e] = event_add(rise, event_of_edge(k, e));
	}
}

/* the only one of n edges in a row, if it has code, or GRAPH_NONE */
static uint32_t event_sole(const struct event_plan *x, const uint32_t *row,
			   uint32_t n)
{
	return n == 1 && x->increment[row[0]] ? row[0] : GRAPH_NONE;
}

/*
 * Call block v: the counter is made exact before the call and put back after
 * it. Either part joins the chord that is v's only way in or out (Ball '94,
 * note 3). With the first part on the way in, the counter is already ahead by
 * it inside v, and queries there take it off again.
 */
static void event_fold_call(struct event_work *k, uint32_t v)
{
	const struct graph *g = k->g;
	struct event_plan *x = k->x;
	int64_t q = x->query_end[v];
	uint32_t in = event_sole(x, g->in + g->in_first[v],
				 g->in_first[v + 1] - g->in_first[v]);
	uint32_t out =
		event_sole(x, g->out + g->out_first[v], graph_out_degree(g, v));

	if (in != GRAPH_NONE) {
		x->increment[in] = event_add(x->increment[in], q);
		x->query_start[v] = event_sub(x->query_start[v], q);
		x->query_end[v] = 0;
	} else {
		x->before_call[v] = q;
	}
	if (out != GRAPH_NONE)
		x->increment[out] = event_sub(x->increment[out], q);
	else
		x->after_call[v] = event_sub(0, q);
}

void event_place(struct arena *a, const struct graph *g, const struct tree *t,
		 const int64_t *at_vertex, const int64_t *at_edge,
		 const bool *calls, struct event_plan *x)
{
	struct arena scratch = {0};
	struct event_work k = {g, at_vertex, at_edge, x};
	struct forest f;

	*x = (struct event_plan){
		.increment = ARENA_ARRAY(a, int64_t, g->ne),
		.query_start = ARENA_ARRAY(a, int64_t, g->nv),
		.query_end = ARENA_ARRAY(a, int64_t, g->nv),
		.before_call = ARENA_ARRAY(a, int64_t, g->nv),
		.after_call = ARENA_ARRAY(a, int64_t, g->nv),
	};
	forest_grow(&scratch, g, t->in, &f);
	for (uint32_t i = 0; i < g->nv; i++)
		event_climb(&k, f.order[i], f.up[f.order[i]]);
	event_fill_chords(&k, t);
	for (uint32_t v = 0; calls && v < g->nv; v++)
		if (calls[v] && v != g->exit)
			event_fold_call(&k, v);
	for (uint32_t e = 0; e < g->ne; e++)
		x->n += x->increment[e] != 0;
	arena_free(&scratch);
}
