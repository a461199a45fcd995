/* places: see places.h. */
#include "count/places.h"

/* a jump that is taken is as dear as half an increment */
static const double jump_cost = .5;

bool places_falls(const struct map_edge *e)
{
	return e->kind == MAP_FALL || e->kind == MAP_OVER ||
	       e->kind == MAP_BACK;
}

struct traffic places_traffic(struct arena *a, const struct drawing *d,
			      const struct map_proc *p, const struct graph *g,
			      const struct weights *w)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	double *edge = ARENA_ARRAY(a, double, g->ne);
	double *fall = ARENA_ARRAY(a, double, g->nv);

	memcpy(edge, w->edge, g->ne * sizeof *edge);
	for (uint32_t i = 0; i < p->nedge; i++)
		if (places_falls(&e[i]))
			fall[e[i].to] += edge[i];
	return (struct traffic){edge, fall};
}

/* by vertex: of the edges to it whose code is aside, the busiest */
static const uint32_t *find_busiest(struct arena *a, const struct drawing *d,
				    const struct map_proc *p,
				    const struct graph *g,
				    const struct traffic *t)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	uint32_t *best = ARENA_ARRAY(a, uint32_t, g->nv);

	for (uint32_t v = 0; v < g->nv; v++)
		best[v] = MAP_NONE;
	for (uint32_t i = 0; i < p->nedge; i++) {
		uint32_t v = e[i].to;

		if (d->way.at[i].jump &&
		    (best[v] == MAP_NONE || t->edge[i] > t->edge[best[v]]))
			best[v] = i;
	}
	return best;
}

/*
 * The code of one edge can lie before the block that it leads to: then not
 * that edge jumps, but what falls through (rewrite/lead.h).
 */
void places_price(struct arena *a, const struct drawing *d,
		  const struct map_proc *p, const struct graph *g,
		  const struct traffic *t, struct weights *w)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	const uint32_t *best = find_busiest(a, d, p, g, t);

	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct way *y = &d->way.at[i];
		double jumps = y->jump ? t->edge[i] : 0;

		if (y->jump && best[e[i].to] == i &&
		    t->fall[e[i].to] < jumps)
			jumps = t->fall[e[i].to];
		w->edge[i] = t->edge[i] * (double)y->cost + jumps * jump_cost;
	}
}

static bool block_obstacle(const struct drawing *d, uint32_t block)
{
	struct insertion i = counter_insertion(d->s->cfg->isa);

	i.place = PLAN_BEFORE;
	i.at = d->m->block.at[block].start;
	return survey_obstacle(d->s, &i) != NULL;
}

void places_choose(struct arena *a, const struct drawing *d,
		   const struct map_proc *p, const struct graph *g,
		   const struct weights *w, enum place_kind kind,
		   struct placement *placed)
{
	bool *edge = ARENA_ARRAY(a, bool, g->ne);
	bool *vertex = ARENA_ARRAY(a, bool, g->nv);
	struct place_limits limits = {edge, vertex};

	for (uint32_t i = 0; i < p->nedge; i++)
		edge[i] = !d->way.at[i].n;
	for (uint32_t v = 0; place_on_vertices(kind) && v < p->nblock; v++)
		vertex[v] = block_obstacle(d, p->block + v);
	place_counters(a, g, w, &limits, kind, placed);
}
