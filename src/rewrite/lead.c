/* lead: see lead.h. */
#include "rewrite/lead.h"

#include <stdlib.h>

/* does control fall through from the block before? */
static bool falls_in(const struct cfg *c, uint32_t block)
{
	const struct block *b = &c->block.at[block], *before = b - 1;
	struct insn last;

	if (!block || before->part != b->part ||
	    block_end(before) != b->start)
		return false;
	last.kind = before->last;
	return !insn_ends_flow(&last);
}

bool lead_fits(const struct cfg *c, uint32_t block)
{
	const struct block *b = &c->block.at[block];
	uint32_t to = cfg_block_at(c, b->target);

	if (to == CFG_NONE || c->edge.at[b->edge].to != to ||
	    c->block.at[to].start != b->target ||
	    c->block.at[to].part != b->part ||
	    c->part.at[b->part].start == b->target)
		return false;
	return to <= block || !falls_in(c, to);
}

/* by target; first those that go back, the last of them first */
static int lead_order(const void *a, const void *b)
{
	const struct lead *p = a, *q = b;

	if (p->to != q->to)
		return p->to < q->to ? -1 : 1;
	return p->site > q->site ? -1 : p->site < q->site;
}

/* keeps one of each target */
static void keep_first(struct leads *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->lead.n; i++)
		if (!n || l->lead.at[n - 1].to != l->lead.at[i].to)
			l->lead.at[n++] = l->lead.at[i];
	l->lead.n = n;
}

void leads_find(struct leads *l, const struct survey *v, struct sites *s)
{
	const struct cfg *c = v->cfg;

	for (size_t i = 0; i < s->at[SPOT_TAKEN].n; i++) {
		const struct site *x = &s->at[SPOT_TAKEN].at[i];
		struct lead lead = {.to = x->to, .site = (uint32_t)i};

		if (!lead_fits(c, c->edge.at[x->edge].from))
			continue;
		lead.over = falls_in(c, cfg_block_at(c, x->to));
		vec_push(&l->lead, lead);
	}
	if (l->lead.n)
		qsort(l->lead.at, l->lead.n, sizeof *l->lead.at, lead_order);
	keep_first(l);
	for (size_t i = 0; i < l->lead.n; i++)
		s->at[SPOT_TAKEN].at[l->lead.at[i].site].leads = true;
}
