/* dfs: see dfs.h. */
#include "flow/dfs.h"

/* v is met for the first time, from `parent` */
static void dfs_meet(struct dfs *d, uint32_t v, uint32_t parent)
{
	d->pre[v] = d->n;
	d->order[d->n++] = v;
	d->parent[v] = parent;
}

/* searches; topo is filled from its end and next[] holds each row's cursor */
static void dfs_run(const struct graph *g, struct dfs *d, uint32_t *next)
{
	uint32_t v = g->root, top = g->nv;

	dfs_meet(d, v, GRAPH_NONE);
	while (v != GRAPH_NONE) {
		if (next[v] < graph_out_degree(g, v)) {
			uint32_t w = g->to[g->out[g->out_first[v] + next[v]++]];

			if (!dfs_reached(d, w)) {
				dfs_meet(d, w, v);
				v = w;
			}
			continue;
		}
		d->topo[--top] = v;
		d->last[v] = d->n - 1;
		v = d->parent[v];
	}
	d->topo += top;
}

void dfs_search(struct arena *a, const struct graph *g, struct dfs *d)
{
	struct arena scratch = {0};

	*d = (struct dfs){
		.order = ARENA_RAW(a, uint32_t, g->nv),
		.topo = ARENA_RAW(a, uint32_t, g->nv),
		.pre = graph_nones(a, g->nv),
		.last = ARENA_RAW(a, uint32_t, g->nv),
		.parent = ARENA_RAW(a, uint32_t, g->nv),
	};
	dfs_run(g, d, ARENA_ARRAY(&scratch, uint32_t, g->nv));
	arena_free(&scratch);
}

/*
 * The search itself is already done: walking its reverse
 * postorder backwards visits every vertex after its subtree, which is the
 * order in which Tarjan's low numbers are computed.
 */

/* the least pre[] that v reaches by its subtree and one edge of the open */
static uint32_t scc_find_low(const struct graph *g, const struct dfs *d,
			     const uint32_t *of, const uint32_t *low,
			     uint32_t v)
{
	uint32_t least = d->pre[v];

	if (v == g->exit)
		return least;
	for_each_edge_out (e, g, v) {
		uint32_t w = g->to[e], x;

		if (of[w] != GRAPH_NONE)
			continue; /* closed: in a component of its own */
		x = d->parent[w] == v ? low[w] : d->pre[w];
		if (x < least)
			least = x;
	}
	return least;
}

uint32_t scc_find(const struct graph *g, const struct dfs *d, uint32_t *of)
{
	struct arena scratch = {0};
	uint32_t *low = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	uint32_t *open = ARENA_ARRAY(&scratch, uint32_t, d->n);
	uint32_t n = 0, nopen = 0;

	memset(of, 0xff, g->nv * sizeof *of);
	for (uint32_t i = d->n; i-- > 0;) {
		uint32_t v = d->topo[i];

		low[v] = scc_find_low(g, d, of, low, v);
		open[nopen++] = v;
		if (low[v] != d->pre[v])
			continue;
		/* v is the first-met of its component: its subtree closes */
		while (nopen && dfs_is_above(d, v, open[nopen - 1]))
			of[open[--nopen]] = n;
		n++;
	}
	arena_free(&scratch);
	return n;
}
