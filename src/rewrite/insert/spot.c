/*
 * spot: see spot.h.
 *
 * Which way an edge takes is read from the last instruction of its block and
 * from the edge's number among the block's: the kind alone does not tell, as
 * whatever leaves the procedure is EDGE_TAIL. cfg/graph/block.c makes them in
 * this order:
 *
 *	conditional branch   taken, not taken
 *	call                 behind it, landing pads
 *	indirect jump        out of the procedure, one edge per target
 */
#include "rewrite/insert/spot.h"

#include "base/bisect.h"

static const char stays[] = "the code stays in place";

/* the first of a dispatch's edges that are of one target each */
static uint32_t target_edges(const struct cfg *c, const struct dispatch *d)
{
	uint32_t end = cfg_edges_end(c, d->block);
	uint32_t n = end - c->block.at[d->block].edge;

	return n < d->ntarget ? CFG_NONE : end - d->ntarget;
}

/* the edge to a hub that leaves the block, or CFG_NONE */
static uint32_t hub_edge(const struct cfg *c, uint32_t block)
{
	for (uint32_t e = c->block.at[block].edge; e < cfg_edges_end(c, block);
	     e++)
		if (c->edge.at[e].kind == EDGE_HUB)
			return e;
	return CFG_NONE;
}

static uint32_t hub_way(const struct cfg *c, const struct hub *h,
			uint64_t target)
{
	const uint32_t *v = &c->hub_target.at[h->target];
	size_t i;

	bisect(i, h->ntarget, c->block.at[v[i]].start < target);
	return i < h->ntarget && c->block.at[v[i]].start == target ?
		       h->target + (uint32_t)i : CFG_NONE;
}

uint32_t spot_way(const struct cfg *c, const struct dispatch *d,
		  uint64_t target, enum spot_kind *kind)
{
	uint32_t e = hub_edge(c, d->block);
	const uint64_t *v = c->target.at + d->target;
	size_t i;

	*kind = SPOT_HUB;
	if (e != CFG_NONE)
		return hub_way(c, &c->hub.at[c->edge.at[e].to], target);
	*kind = SPOT_TABLE;
	e = target_edges(c, d);
	bisect(i, d->ntarget, v[i] < target);
	return e != CFG_NONE && i < d->ntarget && v[i] == target ?
		       e + (uint32_t)i : CFG_NONE;
}

bool spot_leaves(const struct cfg *c, uint32_t block)
{
	const struct block *b = &c->block.at[block];

	return b->edge == cfg_edges_end(c, block) ||
	       c->edge.at[b->edge].to == CFG_NONE;
}

/* before the last instruction, behind what is inserted there for all */
static const char *before_last(const struct survey *s, struct spot *p)
{
	p->kind = SPOT_BEFORE;
	p->on_edge = true;
	p->at = marks_last(&s->marks, s->cfg, p->block);
	return NULL;
}

static const char *falling(const struct survey *s, struct spot *p)
{
	p->kind = SPOT_FALL;
	p->at = block_end(&s->cfg->block.at[p->block]);
	return NULL;
}

static const char *taken(const struct survey *s, struct spot *p)
{
	before_last(s, p);
	p->on_edge = false;
	p->kind = SPOT_TAKEN;
	p->to = s->cfg->block.at[p->block].target;
	return NULL;
}

/* one target of an indirect jump, or what all of them have in common */
static const char *jumping(const struct survey *s, struct spot *p)
{
	const struct cfg *c = s->cfg;
	const struct dispatch *d = tables_dispatch(c, p->block);
	uint32_t first = d ? target_edges(c, d) : CFG_NONE;

	if (c->edge.at[p->edge].kind == EDGE_HUB || !d || !d->ntarget ||
	    (first != CFG_NONE && p->edge < first))
		return before_last(s, p);
	if (first == CFG_NONE || !survey_copies(s, p->block))
		return "its jump table leads to the old text";
	p->kind = SPOT_TABLE;
	p->at = p->edge;
	p->to = c->target.at[d->target + (p->edge - first)];
	return NULL;
}

/* a call that never comes back; it may still land in a landing pad */
static const char *not_returning(const struct survey *s, struct spot *p)
{
	if (p->edge + 1 != cfg_edges_end(s->cfg, p->block))
		return "nothing runs when the call does not come back";
	return before_last(s, p);
}

/* behind a call, or to one of its landing pads */
static const char *calling(const struct survey *s, struct spot *p)
{
	const struct cfg *c = s->cfg;
	const struct edge *e = &c->edge.at[p->edge];

	if (p->edge == c->block.at[p->block].edge)
		return e->kind == EDGE_NORETURN ? not_returning(s, p) :
						  falling(s, p);
	if (e->kind != EDGE_UNWIND)
		return "its landing pad is in another procedure";
	p->kind = SPOT_PAD;
	p->at = p->edge;
	p->to = c->block.at[e->to].start;
	return NULL;
}

static const char *find_edge(const struct survey *s, struct spot *p)
{
	const struct cfg *c = s->cfg;
	const struct block *b;

	if (p->edge >= c->edge.n)
		return "there is no such edge";
	p->block = c->edge.at[p->edge].from;
	b = &c->block.at[p->block];
	if (!survey_moves(s, p->block))
		return stays;
	switch (b->last) {
	case INSN_COND:
		return p->edge == b->edge ? taken(s, p) : falling(s, p);
	case INSN_IJUMP:
		return jumping(s, p);
	case INSN_CALL:
	case INSN_ICALL:
		return calling(s, p);
	case INSN_JUMP:
	case INSN_RET:
	case INSN_TRAP:
		return before_last(s, p);
	}
	return falling(s, p);
}

/* a stub in front of a block, in its own part */
static const char *find_stub(const struct survey *s, struct spot *p,
			     enum spot_kind kind, uint64_t block)
{
	const struct cfg *c = s->cfg;

	if (block >= c->block.n)
		return "there is no such block";
	p->kind = (uint8_t)kind;
	p->block = (uint32_t)block;
	p->to = c->block.at[block].start;
	return survey_moves(s, p->block) ? NULL : stays;
}

static const char *find_hub(const struct survey *s, struct spot *p,
			    uint64_t at)
{
	if (at >= s->cfg->hub_target.n)
		return "there is no such way from a hub";
	p->at = at;
	return find_stub(s, p, SPOT_HUB, s->cfg->hub_target.at[at]);
}

static const char *find_before(const struct survey *s, struct spot *p,
			       uint64_t at)
{
	p->kind = SPOT_BEFORE;
	p->at = at;
	p->block = cfg_block_at(s->cfg, at);
	if (p->block == CFG_NONE)
		return "this is not known to be code";
	return survey_moves(s, p->block) ? NULL : stays;
}

/* control that arrives there passes the trampoline of that one instruction */
static const char *find_trampoline(const struct survey *s, struct spot *p,
			     uint64_t at)
{
	const char *why = find_before(s, p, at);

	p->kind = SPOT_INDIRECT_ENTRY;
	p->to = at;
	return why;
}

const char *spot_find(const struct survey *s, const struct insertion *i,
		      struct spot *p)
{
	const char *why;

	*p = (struct spot){.edge = CFG_NONE, .block = CFG_NONE};
	switch (i->place) {
	case PLAN_BEFORE:
		return find_before(s, p, i->at);
	case PLAN_EDGE:
		p->edge = i->at < CFG_NONE ? (uint32_t)i->at : CFG_NONE;
		return find_edge(s, p);
	case PLAN_HUB:
		return find_hub(s, p, i->at);
	case PLAN_ENTRY:
	case PLAN_INDIRECT_ENTRY:
		why = find_stub(s, p,
				i->place == PLAN_ENTRY ? SPOT_ENTRY
						       : SPOT_INDIRECT_ENTRY,
				i->at);
		p->at = p->to;
		return why;
	case PLAN_TRAMPOLINE:
		return find_trampoline(s, p, i->at);
	}
	return "there is no such place";
}

/* where control falls out of the procedure: what lives there, if we know */
static struct live_set live_behind(const struct survey *s, uint64_t at)
{
	static const struct live_set all = {~(regset)0, FLAG_ALL};
	uint32_t b = cfg_block_at(s->cfg, at);

	return b == CFG_NONE ? all : live_before(&s->live, b, at);
}

struct live_set spot_live(const struct survey *s, const struct spot *p)
{
	struct live_set live;

	if (p->kind == SPOT_BEFORE) {
		live = live_before(&s->live, p->block, p->at);
		live.regs |= tables_keep(&s->tables, p->at);
		return live;
	}
	if (p->edge == CFG_NONE)
		return live_behind(s, p->to);
	if (p->kind == SPOT_FALL && s->cfg->edge.at[p->edge].to == CFG_NONE)
		return live_behind(s, p->at);
	return live_on_edge(&s->live, p->edge);
}

bool spot_exclusive(const struct survey *s, const struct spot *p)
{
	if (!s->cfg->isa->exclusives)
		return false;
	if (p->kind == SPOT_BEFORE)
		return exclusive_before(&s->exclusive, p->at);
	if (p->edge == CFG_NONE)
		return exclusive_before(&s->exclusive, p->to);
	return exclusive_on(&s->exclusive, s->cfg, p->edge);
}
