/*
 * propagate: see propagate.h.
 *
 * One solver on edges. The edges without a counter are walked as a forest;
 * edges that close a cycle there are set to 0 first ("break" in Ball & Larus
 * '94, Fig. 9). From the leaves up, each vertex then has one unknown edge,
 * whose count is what balances the vertex:
 *
 *	excess(v) = arriving - leaving      up edge leaves v:    + excess
 *	                                    up edge arrives:     - excess
 *
 * What remains at the root of a part must be 0, or the counters contradict
 * each other. Sums are exact in 128 bits: at most 2^32 numbers of 64 bits.
 *
 * Known is what a cycle without counters cannot shift. An edge: iff it lies
 * on no such cycle. A vertex: iff no simple cycle runs through it as a pipe,
 * that is iff in each biconnected component of the uncounted edges, those at
 * v all arrive or all leave (any two edges of a component share a simple
 * cycle). This is Theorem 2 of the paper, decided exactly and in linear time.
 *
 * Counters in blocks are the same problem on the split graph.
 */
#include "flow/propagate.h"

#include "flow/forest.h"

struct solver {
	const struct graph *g;
	bool *open;       /* edge has no counter */
	__int128 *count;  /* of edge e */
	__int128 *excess; /* of vertex v: what arrives less what leaves */
	struct forest f;
	uint32_t *block; /* NULL: no cycle without counters */
	bool consistent;
};

/* edge e was taken x times: both ends' balances change */
static void solver_flow(struct solver *k, uint32_t from, uint32_t to,
			__int128 x)
{
	k->excess[from] -= x;
	k->excess[to] += x;
}

/* sets up the solver for g: no counters, no flow */
static void solver_init(struct arena *a, struct solver *k,
			const struct graph *g)
{
	*k = (struct solver){.g = g, .consistent = true};
	k->open = ARENA_ARRAY(a, bool, g->ne);
	memset(k->open, true, g->ne);
	k->count = ARENA_ARRAY(a, __int128, g->ne);
	k->excess = ARENA_ARRAY(a, __int128, g->nv);
}

/* edge e has a counter, which says x */
static void solver_count(struct solver *k, uint32_t e, uint64_t x)
{
	k->open[e] = false;
	k->count[e] = x;
	solver_flow(k, k->g->from[e], k->g->to[e], x);
}

/* count[] of all open edges, and block[] if some are undetermined */
static void solver_run(struct arena *a, struct solver *k)
{
	const struct graph *g = k->g;
	uint32_t nopen = 0;

	forest_grow(a, g, k->open, &k->f);
	for (uint32_t i = g->nv; i-- > 0;) {
		uint32_t v = k->f.order[i], e = k->f.up[v];

		if (e == GRAPH_NONE) {
			k->consistent &= k->excess[v] == 0;
			continue;
		}
		k->count[e] = g->from[e] == v ? k->excess[v] : -k->excess[v];
		solver_flow(k, g->from[e], g->to[e], k->count[e]);
	}
	for (uint32_t e = 0; e < g->ne; e++)
		nopen += k->open[e];
	if (nopen + k->f.roots == g->nv)
		return; /* a forest: everything is determined */
	k->block = ARENA_ARRAY(a, uint32_t, g->ne);
	forest_find_blocks(g, k->open, &k->f, k->block);
}

/* stores x as a count; a known one must be possible */
static void solver_report(struct solver *k, __int128 x, bool known,
			  uint64_t *count, bool *count_known)
{
	*count = (uint64_t)x;
	*count_known = known;
	if (known && (x < 0 || x > (__int128)UINT64_MAX))
		k->consistent = false;
}

/* reports edge e of the solver's graph */
static void solver_report_edge(struct solver *k, uint32_t e, uint64_t *count,
			       bool *known)
{
	bool sure = !k->block || k->block[e] == GRAPH_NONE;

	solver_report(k, k->count[e], sure, count, known);
}

/*
 * Whether the components at v each only arrive or only leave. seen[b] becomes
 * v + 1 where an edge of component b arrives at v.
 */
static bool solver_knows_vertex(const struct solver *k, uint32_t v,
				uint64_t *seen)
{
	if (!k->block)
		return true;
	for_each_edge_in (e, k->g, v)
		if (k->block[e] != GRAPH_NONE)
			seen[k->block[e]] = v + UINT64_C(1);
	for_each_edge_out (e, k->g, v)
		if (k->block[e] != GRAPH_NONE &&
		    seen[k->block[e]] == v + UINT64_C(1))
			return false;
	return true;
}

/* births and deaths at v, arriving at `in` and leaving from `out` */
static void solver_add_flows(struct solver *k,
			     const struct propagate_flows *flows, uint32_t v,
			     uint32_t in, uint32_t out, uint32_t exit_in,
			     uint32_t exit_out)
{
	if (flows && flows->birth)
		solver_flow(k, exit_out, in, flows->birth[v]);
	if (flows && flows->death)
		solver_flow(k, out, exit_in, flows->death[v]);
}

/* what arrives at v: edges, births, and at exit the deaths of all */
static __int128 propagate_sum(const struct solver *k,
			      const struct propagate_flows *flows, uint32_t v)
{
	__int128 sum = flows && flows->birth ? flows->birth[v] : 0;

	for_each_edge_in (e, k->g, v)
		sum += k->count[e];
	if (v == k->g->exit && flows && flows->death)
		for (uint32_t u = 0; u < k->g->nv; u++)
			sum += flows->death[u];
	return sum;
}

/* counters on edges */
static void propagate_edges(struct arena *scratch, const struct graph *g,
			    const struct placement *p, const uint64_t *value,
			    const struct propagate_flows *flows,
			    struct propagation *r)
{
	struct solver k;
	uint64_t *seen = ARENA_ARRAY(scratch, uint64_t, g->ne);

	solver_init(scratch, &k, g);
	for (uint32_t i = 0; i < p->n; i++)
		solver_count(&k, p->at[i], value[i]);
	for (uint32_t v = 0; v < g->nv; v++)
		solver_add_flows(&k, flows, v, v, v, g->exit, g->exit);
	solver_run(scratch, &k);
	for (uint32_t e = 0; e < g->ne; e++)
		solver_report_edge(&k, e, &r->edge[e], &r->edge_known[e]);
	for (uint32_t v = 0; v < g->nv; v++)
		solver_report(&k, propagate_sum(&k, flows, v),
			      solver_knows_vertex(&k, v, seen), &r->vertex[v],
			      &r->vertex_known[v]);
	r->consistent = k.consistent;
}

/* counters in blocks: the same on the split graph */
static void propagate_vertices(struct arena *scratch, const struct graph *g,
			       const struct placement *p, const uint64_t *value,
			       const struct propagate_flows *flows,
			       struct propagation *r)
{
	struct graph_sketch sketch = {0};
	struct graph s;
	struct solver k;

	split_draw(g, &sketch);
	split_seal(scratch, g, &sketch, &s);
	solver_init(scratch, &k, &s);
	for (uint32_t i = 0; i < p->n; i++)
		solver_count(&k, split_block(g, p->at[i]), value[i]);
	for (uint32_t v = 0; v < g->nv; v++)
		solver_add_flows(&k, flows, v, split_in(v), split_out(v),
				 split_in(g->exit), split_out(g->exit));
	solver_run(scratch, &k);
	for (uint32_t e = 0; e < g->ne; e++)
		solver_report_edge(&k, split_edge(g, &s, e), &r->edge[e],
				   &r->edge_known[e]);
	for (uint32_t v = 0; v < g->nv; v++)
		solver_report_edge(&k, split_block(g, v), &r->vertex[v],
				   &r->vertex_known[v]);
	r->consistent = k.consistent;
}

void propagate_counts(struct arena *a, const struct graph *g,
		      const struct placement *p, const uint64_t *value,
		      const struct propagate_flows *flows,
		      struct propagation *r)
{
	struct arena scratch = {0};

	*r = (struct propagation){
		.edge = ARENA_ARRAY(a, uint64_t, g->ne),
		.vertex = ARENA_ARRAY(a, uint64_t, g->nv),
		.edge_known = ARENA_ARRAY(a, bool, g->ne),
		.vertex_known = ARENA_ARRAY(a, bool, g->nv),
	};
	if (place_on_vertices(p->kind))
		propagate_vertices(&scratch, g, p, value, flows, r);
	else
		propagate_edges(&scratch, g, p, value, flows, r);
	arena_free(&scratch);
}
