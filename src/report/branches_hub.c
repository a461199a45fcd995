/*
 * branches_hub: jumps that share their targets. How often each was jumped from,
 * and each target to, is known; how often from this one to that one is, too, if
 * only one jump, or only one target, was used, or if pairs were measured.
 */
#include "report/branches_int.h"

/* a hub's ways in, or its ways out, that were used */
struct side {
	uint32_t used;	/* how many */
	uint32_t block; /* one of them */
};

struct hub_use {
	struct side in, out;
	bool paired; /* all ways in are */
	bool known;
};

static void side_add(struct side *s, uint32_t block, uint64_t count)
{
	s->used += count > 0;
	if (count)
		s->block = block;
}

/* the hub that an edge leads to from a block, or the other way; NULL: none */
static struct hub_use *hub_of(struct hub_use *all, const struct map_proc *p,
			      const struct map_edge *d)
{
	bool in = d->kind == MAP_TO_HUB, out = d->kind == MAP_FROM_HUB;
	uint32_t hub = in ? d->to : d->from, block = in ? d->from : d->to;

	return (in || out) && block < p->nblock && hub >= p->nblock &&
	       hub < map_exit(p) ? &all[hub - p->nblock] : NULL;
}

static void look(const struct gatherer *g, const struct map_proc *p,
		 struct hub_use *all)
{
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		const struct map_edge *d = &g->m->map->edge.at[i];
		struct hub_use *h = hub_of(all, p, d);
		uint64_t count = g->m->solved.edge[i];

		if (!h)
			continue;
		h->known &= g->m->solved.edge_known[i];
		if (d->kind == MAP_FROM_HUB) {
			side_add(&h->out, d->to, count);
			continue;
		}
		side_add(&h->in, d->from, count);
		h->paired &= !count || g->paired[p->block + d->from];
	}
}

static void add(struct gatherer *g, const struct map_proc *p,
		struct hub_use *all, uint32_t edge)
{
	const struct map_edge *d = &g->m->map->edge.at[edge];
	const struct hub_use *h = hub_of(all, p, d);
	uint64_t count = g->m->solved.edge[edge];
	bool in = d->kind == MAP_TO_HUB;

	if (!h || !count || (h->known && h->paired))
		return;
	if (!h->known || (h->in.used > 1 && h->out.used > 1))
		gather_unknown(g, p, in ? d->from : d->to);
	else if (h->in.used == 1 && !in)
		gather_jump(g, p, h->in.block, d->to, count);
	else if (h->in.used > 1 && in)
		gather_jump(g, p, d->from, h->out.block, count);
}

void gather_hubs(struct gatherer *g, const struct map_proc *p)
{
	struct hub_use *all;

	if (!p->nhub)
		return;
	all = NEW_ARRAY(struct hub_use, p->nhub);
	for (uint32_t i = 0; i < p->nhub; i++)
		all[i].paired = all[i].known = true;
	look(g, p, all);
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++)
		add(g, p, all, i);
	mem_free(all);
}
