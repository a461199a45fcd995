/*
 * choose: which parts of the cfg move, and why the others do not.
 *
 * A part moves whole or not at all. It stays when something in it is not
 * understood, when others know it by its bytes, or when that it is code rests
 * on a guess, which is judged later (code_heuristic.c). What stays runs where
 * it was: nothing is lost but measurements.
 */
#include <stdlib.h>

#include "base/parallel.h"
#include "isa/move.h"
#include "rewrite/survey/survey_int.h"
#include "rewrite/unwind/unwind_out.h"

/* a thunk that jumps by a return has no more blocks than this */
enum { THUNK_BLOCKS = 8 };
/* fewer parts are not worth a thread */
enum { SHARE_PARTS = 1000 };

static void stay(struct survey *s, uint64_t start, uint64_t end,
		 const char *reason)
{
	struct region p = {start, end, reason};

	vec_push(&s->in_place, p);
}

static const char *unwind_obstacle(const struct cfg *c,
				   const struct part *p)
{
	const struct unwind *u = c->unwind;
	const struct fde *f;

	if (p->fde == CFG_NONE)
		return c->pinned;
	f = &u->fde[p->fde];
	if (f->outer != UINT32_MAX ||
	    (p->fde + 1 < u->nfde && f[1].start < f->end))
		return "unwind tables overlap";
	/* the code that all stubs begin with until they are bound stays: how
	   often it runs depends on when threads meet there */
	return unwind_can_move(c->image, f, p->start,
			       c->proc.at[p->proc].stub ? p->end : p->start);
}

/*
 * A static program registers its unwind table itself when it starts; without
 * section headers nothing else says where that is.
 */
static bool unwind_hidden(const struct cfg *c)
{
	return !c->image->has_sections && !c->unwind->nfde;
}

/* ends the block with a jump that looks like a return? */
static bool is_hidden_jump(const struct cfg *c, uint32_t n)
{
	const struct block *b = &c->block.at[n];
	size_t avail;
	const uint8_t *code = image_at(c->image, b->start, &avail);

	return b->last == INSN_RET && code && avail >= b->size &&
	       c->isa->move->jumps_by_return(code, b->size);
}

/* does a procedure that is little else begin there? */
static bool is_thunk(const struct cfg *c, uint64_t addr)
{
	uint32_t b = cfg_block_at(c, addr);
	const struct part *p = b == CFG_NONE ? NULL :
				&c->part.at[c->block.at[b].part];

	if (!p || c->proc.at[p->proc].entry != addr ||
	    p->nblock > THUNK_BLOCKS)
		return false;
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		if (is_hidden_jump(c, i))
			return true;
	return false;
}

/* an indirect jump by way of a return, here or in a thunk jumped to? */
static bool hides_jump(const struct cfg *c, const struct part *p)
{
	if (!c->isa->move->jumps_by_return)
		return false;
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct block *b = &c->block.at[i];

		if (is_hidden_jump(c, i) ||
		    ((b->last == INSN_JUMP || b->last == INSN_COND) &&
		     is_thunk(c, b->target)))
			return true;
	}
	return false;
}

/* does the loader write into the code? */
static bool is_relocated(const struct image *im, const struct part *p)
{
	size_t i = image_reloc_from(im, p->start);

	for (; i < im->nreloc && im->reloc[i].place < p->end; i++)
		if (!im->reloc[i].text)
			return true;
	return false;
}

/* why a part stays where it is, if its code could move; NULL if it moves */
static const char *obstacle(const struct cfg *c, const struct part *p)
{
	const struct procedure *proc = &c->proc.at[p->proc];

	if (!c->isa->move)
		return "code of this machine is not moved yet";
	/* one that pointers lead to, as the function's address, is a procedure
	   like others */
	if (proc->stub && !proc->addressed)
		return "a stub of the linker";
	/* they may lead to any old instruction: not all lead to new ones */
	if (c->isa->move->hop_size && (proc->unknown || hides_jump(c, p)))
		return "an indirect jump that is not understood";
	if (c->isa->move->hop_size && proc->open)
		return "code beside it that is not understood";
	if (image_segment(c->image, p->start)->write)
		return "the program may change it";
	if (is_relocated(c->image, p))
		return "the loader changes it";
	if (unwind_hidden(c))
		return "no unwind tables, or none that can be found";
	return unwind_obstacle(c, p);
}

static int by_start(const void *a, const void *b)
{
	const struct region *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

static void sort_in_place(struct survey *s)
{
	if (s->in_place.n)
		qsort(s->in_place.at, s->in_place.n, sizeof *s->in_place.at,
		      by_start);
}

bool choose_leave(struct survey *s,
		  bool (*stays)(void *ctx, const struct moved *m), void *ctx,
		  const char *reason)
{
	VEC(struct moved) moved = {0};
	bool any;

	/* all are judged before any is taken out */
	for (size_t i = 0; i < s->moves.moved.n; i++) {
		const struct moved *m = &s->moves.moved.at[i];

		if (stays(ctx, m))
			stay(s, m->old_start, m->old_end, reason);
		else
			vec_push(&moved, *m);
	}
	any = moved.n < s->moves.moved.n;
	s->moves.moved.n = 0;
	vec_append(&s->moves.moved, &moved);
	vec_free(&moved);
	moves_seal(&s->moves);
	sort_in_place(s);
	return any;
}

/* why each part stays */
struct choice {
	const struct cfg *c;
	const char **why; /* given: what its code says */
};

static void choose_share(void *arg, size_t from, size_t end)
{
	const struct choice *x = arg;

	for (size_t i = from; i < end; i++) {
		const struct part *p = &x->c->part.at[i];
		const char *why = p->nblock ? obstacle(x->c, p) : NULL;

		x->why[i] = why ? why : x->why[i];
	}
}

/* why each part stays, to be freed */
static const char **find_obstacles(struct survey *s)
{
	const char **why = NEW_ARRAY(const char *, s->cfg->part.n + 1);
	struct choice x = {s->cfg, why};

	if (s->cfg->isa->move)
		code_read(s, why);
	parallel_for(choose_share, &x, s->cfg->part.n, SHARE_PARTS);
	restart_mark(s->cfg, why);
	return why;
}

void choose_parts(struct survey *s)
{
	const struct cfg *c = s->cfg;
	const char **obstacles = find_obstacles(s);

	for (uint32_t i = 0; i < c->part.n; i++) {
		const struct part *p = &c->part.at[i];
		const char *why = obstacles[i];
		struct moved m = {.old_start = p->start, .old_end = p->end,
				  .part = i, .fde = p->fde};

		if (why)
			stay(s, p->start, p->end, why);
		else if (p->nblock)
			vec_push(&s->moves.moved, m);
	}
	mem_free(obstacles);
	moves_seal(&s->moves);
	far_leave(s);
	for (uint32_t i = 0; i < c->region.n; i++)
		stay(s, c->region.at[i].start, c->region.at[i].end,
		     c->region.at[i].reason);
	sort_in_place(s);
}

/*
 * far: what stays in place in a very large file because its neighbours do.
 *
 * Where old text is so large that no jump leads over it, nor over half of it,
 * calls reach by a longer jump that loses a register (island.c). A jump into
 * the middle of a procedure must not lose one. So a part that jumps or falls
 * to a place in code that stays, other than the start of a procedure, stays
 * with it; and so on.
 */

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
