/*
 * dom: Lengauer and Tarjan's algorithm (TOPLAS '79) in its simple form, path
 * compression without balancing: O(E log V), whatever the graph. The faster
 * iterative methods are quadratic on the deep, irreducible graphs that
 * hand-written dispatch loops give, so they are not used here.
 *
 * All work is done on preorder numbers: 0 is the root, and a smaller number
 * means earlier in the search. semi[w] is the smallest v with a path to w
 * whose inner vertices are all greater than w. It is the best first guess at
 * the dominator: idom[w] is semi[w], or the idom of the vertex with the least
 * semi on the tree path between semi[w] and w.
 */
#include "flow/dom.h"

struct dom_work {
	uint32_t *semi;
	uint32_t *idom;
	uint32_t *up;   /* in the linked forest; GRAPH_NONE where not linked */
	uint32_t *best; /* vertex of least semi between v and its root */
	uint32_t *path; /* stack for compression */
	uint32_t *bucket, *bucket_next; /* vertices that have this semi */
};

/* the vertex of least semi on the forest path above v, which is compressed */
static uint32_t dom_eval(struct dom_work *k, uint32_t v)
{
	uint32_t n = 0, u = v;

	if (k->up[v] == GRAPH_NONE)
		return v;
	while (k->up[k->up[u]] != GRAPH_NONE) {
		k->path[n++] = u;
		u = k->up[u];
	}
	while (n-- > 0) {
		uint32_t w = k->path[n], p = k->up[w];

		if (k->semi[k->best[p]] < k->semi[k->best[w]])
			k->best[w] = k->best[p];
		k->up[w] = k->up[p];
	}
	return k->best[v];
}

/* each vertex in p's bucket gets its dominator, or a vertex with the same */
static void dom_empty_bucket(struct dom_work *k, uint32_t p)
{
	uint32_t v = k->bucket[p];

	for (; v != GRAPH_NONE; v = k->bucket_next[v]) {
		uint32_t u = dom_eval(k, v);

		k->idom[v] = k->semi[u] < k->semi[v] ? u : p;
	}
	k->bucket[p] = GRAPH_NONE;
}

/* semi[w] from the edges that arrive at w; requires: all v > w are done */
static void dom_find_semi(const struct graph *g, const struct dfs *d,
			  struct dom_work *k, uint32_t w)
{
	for_each_edge_in (e, g, d->order[w]) {
		uint32_t u = d->pre[g->from[e]], s;

		if (e == g->closing || u == GRAPH_NONE)
			continue;
		s = k->semi[dom_eval(k, u)];
		if (s < k->semi[w])
			k->semi[w] = s;
	}
}

/* the two passes: semidominators from the end, dominators from the front */
static void dom_run(const struct graph *g, const struct dfs *d,
		    struct dom_work *k)
{
	for (uint32_t w = d->n; w-- > 1;) {
		uint32_t p = d->pre[d->parent[d->order[w]]];

		dom_find_semi(g, d, k, w);
		k->bucket_next[w] = k->bucket[k->semi[w]];
		k->bucket[k->semi[w]] = w;
		k->up[w] = p;
		dom_empty_bucket(k, p);
	}
	for (uint32_t w = 1; w < d->n; w++)
		if (k->idom[w] != k->semi[w])
			k->idom[w] = k->idom[k->idom[w]];
}

void dom_find(struct arena *a, const struct graph *g, const struct dfs *d,
	      struct dom *m)
{
	struct arena scratch = {0};
	struct dom_work k = {
		.semi = graph_identity(&scratch, d->n),
		.idom = graph_nones(&scratch, d->n),
		.up = graph_nones(&scratch, d->n),
		.best = graph_identity(&scratch, d->n),
		.path = ARENA_RAW(&scratch, uint32_t, d->n),
		.bucket = graph_nones(&scratch, d->n),
		.bucket_next = ARENA_RAW(&scratch, uint32_t, d->n),
	};

	*m = (struct dom){.idom = graph_nones(a, g->nv)};
	dom_run(g, d, &k);
	for (uint32_t w = 1; w < d->n; w++)
		m->idom[d->order[w]] = d->order[k.idom[w]];
	arena_free(&scratch);
}

/* an idom comes before its children in order[] */
void dom_number(struct arena *a, const struct graph *g, const struct dfs *d,
		struct dom *m)
{
	struct arena scratch = {0};
	uint32_t *next = ARENA_ARRAY(&scratch, uint32_t, g->nv);

	m->first = ARENA_ARRAY(a, uint32_t, g->nv);
	m->size = ARENA_ARRAY(a, uint32_t, g->nv);
	for (uint32_t i = d->n; i-- > 0;) {
		uint32_t v = d->order[i];

		m->size[v]++;
		if (m->idom[v] != GRAPH_NONE)
			m->size[m->idom[v]] += m->size[v];
	}
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t v = d->order[i], p = m->idom[v];

		if (p != GRAPH_NONE) {
			m->first[v] = next[p];
			next[p] += m->size[v];
		}
		next[v] = m->first[v] + 1;
	}
	arena_free(&scratch);
}
