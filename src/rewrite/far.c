/*
 * far: what stays in place in a very large file because its neighbours do.
 *
 * Where old text is so large that no jump leads over it, nor over half of it,
 * calls reach by a longer jump that loses a register (island.c). A jump into
 * the middle of a procedure must not lose one. So a part that jumps or falls
 * to a place in code that stays, other than the start of a procedure, stays
 * with it; and so on.
 */
#include "isa/move.h"
#include "rewrite/survey_int.h"

/* what moved code may grow to; the plan is not known yet */
enum { GROWTH = 2 };

static bool is_far(const struct survey *s)
{
	const struct cfg *c = s->cfg;
	const struct image *im = c->image;

	return s->moves.moved.n && c->isa->move->far_size &&
	       im->segment[im->nsegment - 1].end + GROWTH * c->text_bytes >=
		       s->moves.moved.at[0].old_start +
			       c->isa->move->jump_reach;
}

/* a jump to the old address goes on in code that stays, too far away */
static bool leads_back(const struct survey *s, uint64_t to)
{
	uint32_t b = cfg_block_at(s->cfg, to);

	if (b == CFG_NONE)
		return true;
	return !survey_moves(s, b) &&
	       s->cfg->proc.at[cfg_block_proc(s->cfg, b)].entry != to;
}

static bool block_is_stuck(const struct survey *s, uint32_t n)
{
	const struct block *b = &s->cfg->block.at[n];

	if ((b->last == INSN_JUMP || b->last == INSN_COND) &&
	    leads_back(s, b->target))
		return true;
	for (uint32_t e = b->edge; e < cfg_edges_end(s->cfg, n); e++) {
		const struct edge *g = &s->cfg->edge.at[e];

		if ((g->kind == EDGE_FALL || g->kind == EDGE_AFTER) &&
		    !survey_moves(s, g->to))
			return true;
	}
	return false;
}

static bool part_is_stuck(void *ctx, const struct moved *m)
{
	const struct survey *s = ctx;
	const struct part *p = &s->cfg->part.at[m->part];

	for (uint32_t b = p->block; b < p->block + p->nblock; b++)
		if (block_is_stuck(s, b))
			return true;
	return false;
}

void far_leave(struct survey *s)
{
	if (is_far(s))
		while (choose_leave(s, part_is_stuck, s,
				    "it goes on in code that stays, too far "
				    "away"))
			;
}
