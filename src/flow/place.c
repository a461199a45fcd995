/*
 * place: see place.h. The vertex placements run the edge algorithm on the
 * split graph: with the old edges forced into the tree, its chords among the
 * blocks are Knuth and Stevenson's measurement points.
 */
#include "flow/place.h"

/* whether block v may carry a counter */
static bool place_may_count(const struct graph *g,
			    const struct place_limits *limits, uint32_t v)
{
	return !g->is_virtual[v] &&
	       !(limits && limits->vertex && limits->vertex[v]);
}

/* p->at and p->cost from a mask over n edges or vertices */
static void place_collect(struct arena *a, const bool *counted, uint32_t n,
			  const double *weight, struct placement *p)
{
	for (uint32_t i = 0; i < n; i++)
		p->n += counted[i];
	p->at = ARENA_ARRAY(a, uint32_t, p->n);
	p->n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (counted[i]) {
			p->at[p->n++] = i;
			p->cost += weight[i];
		}
}

/* PLACE_EDGES and PLACE_VERTEX_EDGES */
static void place_on_edges(struct arena *a, const struct graph *g,
			   const struct weights *w,
			   const struct place_limits *limits,
			   struct placement *p)
{
	struct arena scratch = {0};
	const bool *barred = limits ? limits->edge : NULL;
	uint8_t *rule = ARENA_ARRAY(&scratch, uint8_t, g->ne);
	bool *counted = ARENA_ARRAY(&scratch, bool, g->ne);
	struct tree t;

	for (uint32_t e = 0; barred && e < g->closing; e++)
		rule[e] = barred[e] ? TREE_MUST : TREE_FREE;
	tree_span(&scratch, g, w->edge, rule, &t);
	for (uint32_t e = 0; e < g->ne; e++)
		counted[e] = !t.in[e] && rule[e] != TREE_MUST;
	if (p->kind == PLACE_VERTEX_EDGES)
		place_drop_pipeless(g, t.in, counted);
	p->blind = t.blind;
	place_collect(a, counted, g->ne, w->edge, p);
	arena_free(&scratch);
}

/*
 * Rules and weights of the split graph: first the old edges and what is no
 * code, then barred blocks, then blocks by weight.
 */
static void place_rule_split(const struct graph *g, const struct graph *s,
			     const struct weights *w,
			     const struct place_limits *limits, uint8_t *rule,
			     double *weight)
{
	memset(rule, TREE_SEED, s->ne);
	for (uint32_t v = 0; v < g->nv; v++) {
		uint32_t b = split_block(g, v);

		weight[b] = w->vertex[v];
		if (place_may_count(g, limits, v))
			rule[b] = TREE_FREE;
		else if (!g->is_virtual[v])
			rule[b] = TREE_MUST;
	}
}

/* counted[v] for PLACE_VERTICES; returns barred blocks outside the tree */
static uint32_t place_knuth(struct arena *scratch, const struct graph *g,
			    const struct weights *w,
			    const struct place_limits *limits, bool *counted)
{
	struct graph_sketch sketch = {0};
	struct graph s;
	struct tree t;
	uint8_t *rule;
	double *weight;

	split_draw(g, &sketch);
	split_seal(scratch, g, &sketch, &s);
	rule = ARENA_ARRAY(scratch, uint8_t, s.ne);
	weight = ARENA_ARRAY(scratch, double, s.ne);
	place_rule_split(g, &s, w, limits, rule, weight);
	tree_span(scratch, &s, weight, rule, &t);
	for (uint32_t v = 0; v < g->nv; v++)
		counted[v] = !t.in[split_block(g, v)] &&
			     place_may_count(g, limits, v);
	return t.blind;
}

/* counted[v] for PLACE_REDUNDANT; returns how many blocks are barred */
static uint32_t place_everywhere(const struct graph *g,
				 const struct place_limits *limits,
				 bool *counted)
{
	uint32_t blind = 0;

	for (uint32_t v = 0; v < g->nv; v++) {
		counted[v] = place_may_count(g, limits, v);
		blind += !counted[v] && !g->is_virtual[v];
	}
	return blind;
}

void place_counters(struct arena *a, const struct graph *g,
		    const struct weights *w, const struct place_limits *limits,
		    enum place_kind kind, struct placement *p)
{
	struct arena scratch = {0};
	bool *counted;

	*p = (struct placement){.kind = kind};
	if (!place_on_vertices(kind)) {
		place_on_edges(a, g, w, limits, p);
		return;
	}
	counted = ARENA_ARRAY(&scratch, bool, g->nv);
	if (kind == PLACE_VERTICES)
		p->blind = place_knuth(&scratch, g, w, limits, counted);
	else
		p->blind = place_everywhere(g, limits, counted);
	place_collect(a, counted, g->nv, w->vertex, p);
	arena_free(&scratch);
}
