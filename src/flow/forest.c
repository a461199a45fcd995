/*
 * forest: see forest.h. Biconnected components (Hopcroft & Tarjan '73) need
 * no stack of edges once the forest is there: low[v], the highest vertex that
 * v's subtree touches, comes from one walk up the preorder, and the numbers
 * from one walk down, because a component enters v's subtree by v's up edge.
 */
#include "flow/forest.h"

/* v joins the forest below edge e; *n vertices were there before */
static void forest_meet(struct forest *f, uint32_t v, uint32_t e, uint32_t *n)
{
	f->up[v] = e;
	f->pre[v] = *n;
	f->order[(*n)++] = v;
}

/* grows the component of `root`; next[] holds each vertex's cursor */
static void forest_grow_one(const struct graph *g, const bool *in,
			    struct forest *f, uint32_t root, uint32_t *next,
			    uint32_t *n)
{
	uint32_t v = root;

	forest_meet(f, v, GRAPH_NONE, n);
	f->roots++;
	for (;;) {
		if (next[v] < graph_degree(g, v)) {
			uint32_t e = graph_edge_at(g, v, next[v]++), w;

			if (!in[e]) /* most edges: spare their ends' loads */
				continue;
			w = graph_other_end(g, e, v);
			if (f->pre[w] == GRAPH_NONE) {
				forest_meet(f, w, e, n);
				v = w;
			}
		} else if (f->up[v] != GRAPH_NONE) {
			v = forest_parent(g, f, v);
		} else {
			return;
		}
	}
}

void forest_grow(struct arena *a, const struct graph *g, const bool *in,
		 struct forest *f)
{
	struct arena scratch = {0};
	uint32_t *next = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	uint32_t n = 0;

	*f = (struct forest){
		.order = ARENA_ARRAY(a, uint32_t, g->nv),
		.pre = graph_nones(a, g->nv),
		.up = ARENA_ARRAY(a, uint32_t, g->nv),
	};
	forest_grow_one(g, in, f, g->root, next, &n);
	for (uint32_t v = 0; v < g->nv; v++)
		if (f->pre[v] == GRAPH_NONE)
			forest_grow_one(g, in, f, v, next, &n);
	arena_free(&scratch);
}

void forest_climb(struct arena *a, const struct graph *g,
		  const struct forest *f, struct ladder *l)
{
	ladder_init(a, l, g->nv);
	for (uint32_t i = 0; i < g->nv; i++) {
		uint32_t v = f->order[i], parent = GRAPH_NONE;

		if (f->up[v] != GRAPH_NONE)
			parent = forest_parent(g, f, v);
		ladder_add(l, v, parent);
	}
}

/* lowers *low to x */
static void forest_lower(uint32_t *low, uint32_t x)
{
	if (x < *low)
		*low = x;
}

/* low[v]: least pre[] at an end of an edge, not up[v], in v's subtree */
static void forest_find_low(const struct graph *g, const bool *in,
			    const struct forest *f, uint32_t *low)
{
	memcpy(low, f->pre, g->nv * sizeof *low);
	for (uint32_t e = 0; e < g->ne; e++) {
		uint32_t u = g->from[e], v = g->to[e];

		if (!in[e] || f->up[u] == e || f->up[v] == e)
			continue;
		forest_lower(&low[u], f->pre[v]);
		forest_lower(&low[v], f->pre[u]);
	}
	for (uint32_t i = g->nv; i-- > 0;) {
		uint32_t v = f->order[i];

		if (f->up[v] != GRAPH_NONE)
			forest_lower(&low[forest_parent(g, f, v)], low[v]);
	}
}

/*
 * block[] of every up edge: v's subtree either goes on the parent's component
 * (it touches something above the parent) or begins one at the parent. It is
 * a bridge if it does not even touch the parent again.
 */
static uint32_t forest_number_up(const struct graph *g, const struct forest *f,
				 const uint32_t *low, uint32_t *block)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nv; i++) {
		uint32_t v = f->order[i], e = f->up[v], p;

		if (e == GRAPH_NONE)
			continue;
		p = forest_parent(g, f, v);
		if (low[v] > f->pre[p])
			block[e] = GRAPH_NONE;
		else if (low[v] == f->pre[p])
			block[e] = n++;
		else
			block[e] = block[f->up[p]];
	}
	return n;
}

uint32_t forest_find_blocks(const struct graph *g, const bool *in,
			    const struct forest *f, uint32_t *block)
{
	struct arena scratch = {0};
	uint32_t *low = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	uint32_t n;

	memset(block, 0xff, g->ne * sizeof *block);
	forest_find_low(g, in, f, low);
	n = forest_number_up(g, f, low, block);
	for (uint32_t e = 0; e < g->ne; e++) {
		uint32_t u = g->from[e], v = g->to[e];

		if (!in[e] || f->up[u] == e || f->up[v] == e)
			continue;
		if (u == v)
			block[e] = n++;
		else
			block[e] = block[f->up[f->pre[u] > f->pre[v] ? u : v]];
	}
	arena_free(&scratch);
	return n;
}
