/*
 * equiv: see equiv.h. The procedure is made strongly connected, its vertices
 * are split so that blocks are edges too, and bracket.h does the rest.
 */
#include "flow/equiv.h"

#include "flow/bracket.h"
#include "flow/scc.h"
#include "flow/split.h"

/* the first-met vertices of components, other than exit's, that lead nowhere */
static void equiv_find_ways(struct arena *a, const struct graph *g,
			    const struct dfs *d, struct equiv *q)
{
	struct arena scratch = {0};
	uint32_t *of = ARENA_ARRAY(&scratch, uint32_t, g->nv);
	bool *done = ARENA_ARRAY(&scratch, bool, scc_find(g, d, of));

	for (uint32_t e = 0; e < g->closing; e++)
		if (dfs_reached(d, g->from[e]))
			done[of[g->from[e]]] |= of[g->from[e]] != of[g->to[e]];
	if (dfs_reached(d, g->exit))
		done[of[g->exit]] = true;
	q->way = ARENA_ARRAY(a, uint32_t, d->n);
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t v = d->order[i];

		if (done[of[v]])
			continue;
		done[of[v]] = true;
		q->way[q->nways++] = v;
	}
	arena_free(&scratch);
}

/* s: g split, with the ways out; in[]: its edges that a run can take */
static void equiv_close(struct arena *a, const struct graph *g,
			const struct dfs *d, const struct equiv *q,
			struct graph *s, bool **in)
{
	struct graph_sketch sketch = {0};

	split_draw(g, &sketch);
	for (uint32_t i = 0; i < q->nways; i++) {
		uint32_t v = q->way[i];

		/* from the start of a loop, but the end of a dead end */
		graph_add_edge(&sketch,
			       graph_out_degree(g, v) ? split_in(v)
						      : split_out(v),
			       split_in(g->exit));
	}
	split_seal(a, g, &sketch, s);
	*in = ARENA_ARRAY(a, bool, s->ne);
	for (uint32_t e = 0; e < s->ne; e++) {
		uint32_t v = s->from[e] / 2;

		(*in)[e] = v == g->exit || dfs_reached(d, v);
	}
}

void equiv_find(struct arena *a, const struct graph *g, struct equiv *q)
{
	struct arena scratch = {0};
	struct graph s;
	struct dfs d;
	uint32_t *class;
	bool *in;

	*q = (struct equiv){
		.edge = ARENA_ARRAY(a, uint32_t, g->ne),
		.vertex = ARENA_ARRAY(a, uint32_t, g->nv),
	};
	dfs_search(&scratch, g, &d);
	equiv_find_ways(a, g, &d, q);
	equiv_close(&scratch, g, &d, q, &s, &in);
	class = ARENA_ARRAY(&scratch, uint32_t, s.ne);
	q->n = bracket_classify(&s, in, class);
	for (uint32_t e = 0; e < g->ne; e++)
		q->edge[e] = class[split_edge(g, &s, e)];
	for (uint32_t v = 0; v < g->nv; v++)
		q->vertex[v] = class[split_block(g, v)];
	arena_free(&scratch);
}
