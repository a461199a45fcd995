/*
 * origins: from where control comes to each block, and to each hub.
 *
 *	block k  <-  blocks whose edges lead to k, and hubs that it is a
 *	             target of
 *	hub h    <-  blocks whose jumps share it
 *
 * Nodes are blocks, by number, and behind these hubs. Those of a node lie one
 * behind the other in origins.from.
 */
#include "cfg/live_int.h"

/* calls see() for every way from one node to another */
static void each_way(const struct cfg *c, struct origins *o,
		     void (*see)(struct origins *o, uint32_t from, uint32_t to))
{
	uint32_t hubs = (uint32_t)c->block.n;

	for (size_t e = 0; e < c->edge.n; e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind <= EDGE_HUB)
			see(o, g->from,
			    g->kind == EDGE_HUB ? hubs + g->to : g->to);
	}
	for (uint32_t h = 0; h < c->hub.n; h++) {
		const struct hub *hub = &c->hub.at[h];

		for (uint32_t t = 0; t < hub->ntarget; t++)
			see(o, hubs + h, c->hub_target.at[hub->target + t]);
	}
}

static void count_way(struct origins *o, uint32_t from, uint32_t to)
{
	(void)from;
	o->first[to + 2]++;
}

static void note_way(struct origins *o, uint32_t from, uint32_t to)
{
	o->from[o->first[to + 1]++] = from;
}

void origins_find(struct origins *o, const struct cfg *c)
{
	size_t n = c->block.n + c->hub.n;

	o->first = NEW_ARRAY(uint32_t, n + 2);
	each_way(c, o, count_way);
	for (size_t i = 0; i < n; i++)
		o->first[i + 2] += o->first[i + 1];
	o->from = mem_alloc(o->first[n + 1] * sizeof *o->from + 1);
	each_way(c, o, note_way);
}

void origins_free(struct origins *o)
{
	mem_free(o->first);
	mem_free(o->from);
}
