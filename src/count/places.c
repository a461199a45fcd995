/* places: see places.h. */
#include "count/places.h"

void places_price(const struct drawing *d, const struct map_proc *p,
		  struct weights *w)
{
	for (uint32_t i = 0; i < p->nedge; i++)
		w->edge[i] *= d->way.at[i].cost;
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
