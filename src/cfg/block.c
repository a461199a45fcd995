/*
 * block: from pieces to blocks, edges and procedures.
 *
 * A block ends at a transfer of control (calls and system calls included: a
 * frame may die or be born there, algorithms.md 2) or before a leader.
 *
 *	leaders   |              |              |
 *	insns     a  b  c  jcc   d  e  f  call  g  h  i   j  k  ret
 *	blocks    [-----------)  [-----------)  [------)  [-------)
 *
 * Alignment padding between blocks that nobody jumps to is a block of its
 * own without edges, so that it does not look like a way into the next one.
 */
#include "cfg/build.h"

#include <stdlib.h>

/* [off, end) holds nothing but padding */
static bool block_is_fill(const struct code *k, uint32_t off, uint32_t end)
{
	const uint8_t *bytes = code_bytes(k, off);
	struct insn i;

	for (uint32_t at = off; at < end; at += i.len) {
		k->isa->scan(bytes + (at - off), end - at, 0, &i);
		if (!i.pad || !i.len)
			return false;
	}
	return true;
}

void block_cut(const struct build *b, const struct piece *p, cuts *out)
{
	const struct code *k = &b->code;
	const struct xfer *x = b->found.xfer.at + p->xfer;
	const struct xfer *xend = x + p->nxfer;
	bool reached = true; /* the block before runs on into this one */

	for (uint32_t pos = p->start; pos < p->end;) {
		uint32_t stop = x < xend ? x->at + x->len : p->end;
		uint32_t next = code_next(k, k->leader, pos + 1, stop);
		struct cut c = {.start = pos, .last = CODE_NONE,
				.target = CODE_NONE, .kind = INSN_SEQ};

		c.end = next;
		if (x < xend && next == stop) {
			c.last = x->at;
			c.target = x->target;
			c.kind = x->kind;
			x++;
		}
		c.fill = !reached && !code_test(k, k->leader, pos) &&
			 block_is_fill(k, pos, c.end);
		reached = c.kind == INSN_SEQ ? reached || !c.fill :
			  c.kind != INSN_JUMP && c.kind != INSN_RET &&
			  c.kind != INSN_IJUMP && c.kind != INSN_TRAP;
		if (c.fill)
			reached = false;
		vec_push(out, c);
		pos = c.end;
	}
}

/* the block that starts at offset t of piece p, or CFG_NONE */
static uint32_t block_at(const struct build *b, uint32_t p, uint32_t t)
{
	const struct part *part = &b->cfg->part.at[p];
	const struct block *blocks = b->cfg->block.at;
	uint64_t addr = code_address(&b->code, t);
	uint32_t lo = part->block, hi = part->block + part->nblock;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (blocks[mid].start < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < part->block + part->nblock && blocks[lo].start == addr ?
		       lo : CFG_NONE;
}

/* what edge-making knows of the block at hand */
struct edger {
	struct build *b;
	uint32_t block, piece;
	const struct cut *cut;
	size_t site; /* first landing site that may cover this block's call */
};

static void edge_add(struct edger *g, uint32_t to, enum edge_kind kind)
{
	struct edge e = {.from = g->block, .to = to, .kind = (uint8_t)kind};

	vec_push(&g->b->cfg->edge, e);
}

/* an edge to offset t: inside, or out of the procedure */
static void edge_to(struct edger *g, uint32_t t, enum edge_kind kind)
{
	uint32_t q;

	switch (block_goal(g->b, g->piece, t)) {
	case GOAL_TAIL:
		edge_add(g, CFG_NONE, EDGE_TAIL);
		return;
	case GOAL_INSIDE:
		q = block_at(g->b, build_piece_at(g->b, t), t);
		if (q != CFG_NONE) {
			edge_add(g, q, kind);
			return;
		}
		/* fall through */
	case GOAL_NOWHERE:
		/* a direct jump to code that is left alone still leaves */
		edge_add(g, CFG_NONE,
			 kind == EDGE_FALL ? EDGE_UNKNOWN : EDGE_TAIL);
	}
}

/* edges behind a call, and to its landing pads */
static void edge_call(struct edger *g)
{
	struct build *b = g->b;
	uint32_t end = g->cut->end;
	uint32_t q = g->cut->kind == INSN_CALL && g->cut->target != CODE_NONE ?
			     build_piece_at(b, g->cut->target) : CFG_NONE;
	bool stays = q != CFG_NONE && b->noreturn &&
		     b->noreturn[build_find(b, q)];

	/* rewriting.md 7.23: the last call of a procedure does not return */
	if (stays || end == b->piece.at[g->piece].end)
		edge_add(g, CFG_NONE, EDGE_NORETURN);
	else
		edge_to(g, end, EDGE_AFTER);
	while (g->site < b->site.n && b->site.at[g->site].end <= g->cut->last)
		g->site++;
	for (size_t s = g->site; s < b->site.n &&
				 b->site.at[s].start <= g->cut->last; s++)
		if (b->site.at[s].end > g->cut->last)
			edge_to(g, b->site.at[s].pad, EDGE_UNWIND);
}

static int jump_order(const void *key, const void *elem)
{
	uint32_t at = *(const uint32_t *)key;
	const struct jump_site *j = elem;

	return at < j->at ? -1 : at > j->at;
}

/* edges of an indirect jump, as far as it is understood */
static void edge_dispatch(struct edger *g)
{
	struct build *b = g->b;
	struct jump_site *j = b->jump.n ?
		bsearch(&g->cut->last, b->jump.at, b->jump.n,
			sizeof *b->jump.at, jump_order) : NULL;

	if (!j) {
		edge_add(g, CFG_NONE, EDGE_UNKNOWN);
		return;
	}
	j->d.block = g->block;
	switch (j->d.status) {
	case DISPATCH_BOUNDED:
	case DISPATCH_APPROXIMATED:
		if (j->hub != CFG_NONE) {
			edge_add(g, j->hub, EDGE_HUB);
			break;
		}
		for (uint32_t t = 0; t < j->d.ntarget; t++)
			edge_to(g, code_offset(&b->code,
				b->target.at[j->d.target + t]), EDGE_TABLE);
		break;
	case DISPATCH_TAIL:
		edge_add(g, CFG_NONE, EDGE_TAIL);
		break;
	default:
		edge_add(g, CFG_NONE, EDGE_UNKNOWN);
	}
}

/* all edges of one block */
static void edge_block(struct edger *g)
{
	const struct cut *c = g->cut;

	if (c->fill)
		return;
	switch (c->kind) {
	case INSN_JUMP:
		edge_to(g, c->target, EDGE_JUMP);
		break;
	case INSN_COND:
		edge_to(g, c->target, EDGE_TAKEN);
		edge_to(g, c->end, EDGE_FALL);
		break;
	case INSN_CALL:
	case INSN_ICALL:
		edge_call(g);
		break;
	case INSN_SYSCALL:
		edge_to(g, c->end, EDGE_AFTER);
		break;
	case INSN_RET:
		edge_add(g, CFG_NONE, EDGE_RETURN);
		break;
	case INSN_IJUMP:
		edge_dispatch(g);
		break;
	case INSN_TRAP:
		edge_add(g, CFG_NONE, EDGE_NORETURN);
		break;
	default:
		edge_to(g, c->end, EDGE_FALL);
	}
}

/* appends the blocks of piece i */
static void block_add_part(struct build *b, uint32_t i, cuts *all)
{
	struct cfg *c = b->cfg;
	const struct piece *p = &b->piece.at[i];
	uint64_t base = code_address(&b->code, p->start) - p->start;
	size_t first = all->n;
	struct part part = {.start = base + p->start, .end = base + p->end,
			    .fde = p->fde, .source = p->source,
			    .block = (uint32_t)c->block.n};

	if (!p->in_place)
		block_cut(b, p, all);
	part.nblock = (uint32_t)(all->n - first);
	vec_push(&c->part, part);
	for (size_t j = first; j < all->n; j++) {
		const struct cut *t = &all->at[j];
		struct block k = {.start = base + t->start,
				  .size = t->end - t->start, .part = i,
				  .last = t->kind};

		if (t->fill)
			k.flags |= BLOCK_FILL;
		if (code_test(&b->code, b->code.called, t->start))
			k.flags |= BLOCK_ENTRY;
		if (t->target != CODE_NONE)
			k.target = code_address(&b->code, t->target);
		vec_push(&c->block, k);
	}
}

/* flags blocks that are landing pads */
static void block_flag_pads(struct build *b)
{
	for (size_t i = 0; i < b->site.n; i++) {
		uint32_t p = build_piece_at(b, b->site.at[i].pad);
		uint32_t k = p == CFG_NONE ? CFG_NONE :
			     block_at(b, p, b->site.at[i].pad);

		if (k != CFG_NONE)
			b->cfg->block.at[k].flags |= BLOCK_PAD;
	}
}

/* empties what an earlier round has made */
static void block_reset(struct cfg *c)
{
	c->part.n = c->block.n = c->edge.n = c->proc.n = 0;
	c->proc_part.n = c->hub.n = c->hub_target.n = 0;
}

void block_build(struct build *b)
{
	struct cfg *c = b->cfg;
	struct edger g = {.b = b};
	cuts all = {0};

	block_reset(c);
	for (uint32_t i = 0; i < b->piece.n; i++)
		block_add_part(b, i, &all);
	block_flag_pads(b);
	hub_build(b);
	for (uint32_t i = 0; i < c->block.n; i++) {
		g.block = i;
		g.piece = c->block.at[i].part;
		g.cut = &all.at[i];
		c->block.at[i].edge = (uint32_t)c->edge.n;
		edge_block(&g);
	}
	vec_free(&all);
	proc_build(b);
}
