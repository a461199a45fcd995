/*
 * saved: registers that a procedure saves in its frame on entry, and restores.
 *
 * A store into the frame saves a register if it still has the value that it
 * had on entry. Where it may have been written on some way from the entry, who
 * stores it keeps a value of his own, and may load that later: compilers do so
 * with results of calls all the time. Who wants to have a register back, as
 * procedures with a convention of their own do for all of them, stores it
 * before it is written on any way, if perhaps late on some (shrink-wrapping).
 *
 *	written before a block = written behind any block that leads to it
 *	written behind it      = the same, and what the block writes
 *
 * the least solution, in sweeps until nothing changes. Calls of procedures of
 * the image write nothing here: that makes more of the stores saves, which is
 * the safe side (clobber.c).
 */
#include "cfg/live_int.h"

struct search {
	const struct cfg *c;
	const struct calls *calls;
	const struct effect *effect;
	const struct saves *saves;
	regset *written; /* by block, before it */
};

/* block to is reached with these written; true if that is news */
static bool reach(struct search *s, uint32_t to, regset written)
{
	bool news = written & ~s->written[to];

	s->written[to] |= written;
	return news;
}

static bool reach_hub(struct search *s, uint32_t h, regset written)
{
	const struct hub *hub = &s->c->hub.at[h];
	bool news = false;

	for (uint32_t t = 0; t < hub->ntarget; t++)
		news |= reach(s, s->c->hub_target.at[hub->target + t],
			      written);
	return news;
}

/* tells the blocks behind block b; true if one learns something */
static bool go_on(struct search *s, uint32_t b)
{
	const struct cfg *c = s->c;
	regset written = s->written[b] | (regset)s->effect[b].writes;
	bool news = false;

	if (callee_by_rules(s->calls->callee[b]))
		written |= c->isa->scratch;
	for (uint32_t e = c->block.at[b].edge; e < cfg_edges_end(c, b); e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind == EDGE_HUB)
			news |= reach_hub(s, g->to, written);
		else if (g->to != CFG_NONE && g->kind < EDGE_HUB)
			news |= reach(s, g->to, written);
	}
	return news;
}

/* one sweep over procedure p */
static bool sweep(struct search *s, const struct procedure *p)
{
	const struct cfg *c = s->c;
	bool news = false;

	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			news |= go_on(s, b);
	}
	return news;
}

/* what procedure p stores, unless it is written before, and loads */
static regset both_ways(const struct search *s, const struct procedure *p)
{
	const struct cfg *c = s->c;
	regset saved = 0, restored = 0;

	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *t =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++) {
			saved |= s->saves[b].saved & ~s->written[b];
			restored |= s->saves[b].restored;
		}
	}
	return saved & restored & c->isa->scratch;
}

regset *saved_find(const struct cfg *c, const struct calls *calls,
		   const struct effect *effect, const struct saves *saves)
{
	struct search s = {c, calls, effect, saves,
			   NEW_ARRAY(regset, c->block.n + 1)};
	regset *kept = NEW_ARRAY(regset, c->proc.n + 1);

	for (uint32_t i = 0; i < c->proc.n; i++) {
		const struct procedure *p = &c->proc.at[i];

		if (!both_ways(&s, p)) /* as if nothing were written */
			continue;
		while (sweep(&s, p))
			;
		kept[i] = both_ways(&s, p);
	}
	mem_free(s.written);
	return kept;
}
