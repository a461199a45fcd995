/* graph: see graph.h. Rows are filled by counting sort, so they ascend. */
#include "flow/graph.h"

#include <assert.h>

uint32_t *graph_nones(struct arena *a, uint32_t n)
{
	uint32_t *x = ARENA_RAW(a, uint32_t, n);

	memset(x, 0xff, n * sizeof *x);
	return x;
}

uint32_t *graph_identity(struct arena *a, uint32_t n)
{
	uint32_t *x = ARENA_RAW(a, uint32_t, n);

	for (uint32_t i = 0; i < n; i++)
		x[i] = i;
	return x;
}

uint32_t graph_add_vertices(struct graph_sketch *s, uint32_t n)
{
	uint32_t first = s->nv;

	assert(n < GRAPH_NONE - first);
	s->nv += n;
	return first;
}

uint32_t graph_add_edge(struct graph_sketch *s, uint32_t from, uint32_t to)
{
	/* the last two numbers are the closing edge's and GRAPH_NONE */
	assert(from < s->nv && to < s->nv && s->from.n < GRAPH_NONE - 1);
	vec_push(&s->from, from);
	vec_push(&s->to, to);
	return (uint32_t)s->from.n - 1;
}

void graph_add_edges(struct graph_sketch *s, const struct graph_sketch *other,
		     size_t first, size_t end)
{
	size_t n = end - first;

	assert(n <= other->from.n && other->nv <= s->nv &&
	       n < GRAPH_NONE - 1 - s->from.n);
	if (!n)
		return;
	vec_reserve(&s->from, n);
	vec_reserve(&s->to, n);
	memcpy(s->from.at + s->from.n, other->from.at + first,
	       n * sizeof *s->from.at);
	memcpy(s->to.at + s->to.n, other->to.at + first,
	       n * sizeof *s->to.at);
	s->from.n += n;
	s->to.n += n;
}

uint32_t graph_add_hub(struct graph_sketch *s, const uint32_t *sources,
		       uint32_t ns, const uint32_t *targets, uint32_t nt)
{
	uint32_t hub = graph_add_vertices(s, 1);

	for (uint32_t i = 0; i < ns; i++)
		graph_add_edge(s, sources[i], hub);
	for (uint32_t i = 0; i < nt; i++)
		graph_add_edge(s, hub, targets[i]);
	vec_push(&s->hubs, hub);
	return hub;
}

/* fills one direction's rows: edges sorted by their end[] vertex */
static void graph_fill_rows(struct arena *a, const struct graph *g,
			    const uint32_t *end, uint32_t **first_of,
			    uint32_t **row_of)
{
	/* one place to the right, so that filling leaves the row starts */
	uint32_t *first = ARENA_ARRAY(a, uint32_t, g->nv + 2);
	uint32_t *row = ARENA_RAW(a, uint32_t, g->ne);

	for (uint32_t e = 0; e < g->ne; e++)
		first[end[e] + 2]++;
	for (uint32_t v = 2; v < g->nv + 2; v++)
		first[v] += first[v - 1];
	for (uint32_t e = 0; e < g->ne; e++)
		row[first[end[e] + 1]++] = e;
	*first_of = first;
	*row_of = row;
}

/* copies the sketch's ends of edges, with the closing edge behind them */
static uint32_t *graph_copy_ends(struct arena *a, const uint32_t *at, size_t n,
				 uint32_t closing)
{
	uint32_t *copy = ARENA_RAW(a, uint32_t, n + 1);

	if (n)
		memcpy(copy, at, n * sizeof *copy);
	copy[n] = closing;
	return copy;
}

void graph_sketch_free(struct graph_sketch *s)
{
	vec_free(&s->from);
	vec_free(&s->to);
	vec_free(&s->hubs);
	s->nv = 0;
}

void graph_seal(struct arena *a, struct graph_sketch *s, uint32_t root,
		uint32_t exit, struct graph *g)
{
	assert(root < s->nv && exit < s->nv && root != exit);
	*g = (struct graph){.nv = s->nv, .root = root, .exit = exit};
	g->closing = (uint32_t)s->from.n;
	g->ne = g->closing + 1;
	g->from = graph_copy_ends(a, s->from.at, g->closing, exit);
	g->to = graph_copy_ends(a, s->to.at, g->closing, root);
	graph_fill_rows(a, g, g->from, &g->out_first, &g->out);
	graph_fill_rows(a, g, g->to, &g->in_first, &g->in);
	assert(g->out_first[exit + 1] - g->out_first[exit] == 1);
	g->is_virtual = ARENA_ARRAY(a, bool, g->nv);
	g->is_virtual[exit] = true;
	for (size_t i = 0; i < s->hubs.n; i++)
		g->is_virtual[s->hubs.at[i]] = true;
	graph_sketch_free(s);
}

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
