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
