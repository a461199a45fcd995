/*
 * own_reads: see own_reads.h. Backward data flow over the procedure's blocks,
 * in sweeps until nothing changes.
 */
#include "cfg/own_reads.h"

#include "cfg/live_int.h"

void own_reads_init(struct own_reads *o, const struct live *l)
{
	const struct cfg *c = l->cfg;

	*o = (struct own_reads){
		.live = l,
		.c = c,
		.in = NEW_ARRAY(regset, c->block.n + 1),
		.hub = NEW_ARRAY(regset, c->hub.n + 1),
		.known = NEW_ARRAY(bool, c->proc.n + 1),
	};
}

void own_reads_free(struct own_reads *o)
{
	mem_free(o->in);
	mem_free(o->hub);
	mem_free(o->known);
}

static regset behind(const struct own_reads *o, uint32_t block)
{
	const struct cfg *c = o->c;
	regset r = 0;

	for (uint32_t e = c->block.at[block].edge; e < cfg_edges_end(c, block);
	     e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind == EDGE_HUB)
			r |= o->hub[g->to];
		else if (g->to != CFG_NONE)
			r |= o->in[g->to];
	}
	return r;
}

/* the hubs of a procedure are told what their targets read */
static void sweep_hubs(struct own_reads *o, uint32_t proc)
{
	const struct cfg *c = o->c;

	for (size_t i = 0; i < c->hub.n; i++) {
		const struct hub *h = &c->hub.at[i];

		if (h->proc != proc)
			continue;
		for (uint32_t t = 0; t < h->ntarget; t++)
			o->hub[i] |= o->in[c->hub_target.at[h->target + t]];
	}
}

/* one sweep over the procedure, last blocks first; true if something changed */
static bool sweep(struct own_reads *o, const struct procedure *p,
		  const struct effect *effect)
{
	const struct cfg *c = o->c;
	bool changed = false;
	size_t n = 0;

	for (uint32_t i = 0; i < p->npart; i++)
		n += c->part.at[c->proc_part.at[p->part + i]].nblock;
	for (uint32_t i = p->npart; i--;) {
		const struct part *q =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t b = q->block + q->nblock; b-- > q->block;) {
			const struct effect *f = &effect[--n];
			regset in = (regset)f->reads |
				    (behind(o, b) & ~(regset)f->writes &
				     ~o->live->changed[b]);

			changed |= in != o->in[b];
			o->in[b] = in;
		}
	}
	return changed;
}

static void find(struct own_reads *o, uint32_t proc)
{
	const struct cfg *c = o->c;
	const struct procedure *p = &c->proc.at[proc];
	VEC(struct effect) effect = {0};

	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *q =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t b = q->block; b < q->block + q->nblock; b++)
			vec_push(&effect, effect_from(c, &c->block.at[b],
						      c->block.at[b].start,
						      NULL));
	}
	while (sweep(o, p, effect.at))
		sweep_hubs(o, proc);
	vec_free(&effect);
	o->known[proc] = true;
}

regset own_reads_behind(struct own_reads *o, uint32_t block)
{
	uint32_t proc = cfg_block_proc(o->c, block);

	if (!o->known[proc])
		find(o, proc);
	return behind(o, block);
}
