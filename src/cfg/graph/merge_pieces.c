/*
 * merge_pieces: which pieces make up one procedure.
 *
 * Compilers split a procedure into a hot and a cold piece, each with an FDE
 * of its own; linkers and hand-written code add more. Pieces belong together
 * when control goes from one into the other at a place that is not the start
 * of a procedure. What is a start?
 *
 *	- what is called directly, or a function symbol names: certainly
 *	- the start of an FDE at which the frame is as right after a call: a
 *	  jump there is a tail call. A cold piece of a procedure with a frame
 *	  starts with that frame, and its FDE says so.
 *	- a piece without an FDE whose address is stored somewhere
 *
 * A conditional branch to an FDE's start is mostly to the cold piece of a
 * procedure without a frame; it joins the two unless other code refers to the
 * place.
 */
#include "base/parallel.h"
#include "cfg/build.h"

bool merge_is_start(const struct build *b, uint32_t t, bool conditional)
{
	const struct code *k = &b->code;
	const struct piece *p;
	uint32_t i;

	if (code_test(k, k->called, t))
		return true;
	i = piece_at(b, t);
	if (i == CFG_NONE || b->piece.at[i].start != t)
		return false;
	p = &b->piece.at[i];
	if (p->fde == CFG_NONE)
		return code_test(k, k->entry, t);
	return p->fresh && (!conditional || code_test(k, k->label, t));
}

enum block_goal block_goal(const struct build *b, uint32_t piece, uint32_t t)
{
	const struct piece *p = &b->piece.at[piece];
	uint32_t q;

	if (!code_test(&b->code, b->code.insn, t))
		return GOAL_NOWHERE;
	/* within a piece every jump stays inside, also to its start */
	if (!p->in_place && t >= p->start && t < p->end)
		return GOAL_INSIDE;
	q = piece_at(b, t);
	if (q == CFG_NONE || b->piece.at[q].in_place)
		return GOAL_NOWHERE;
	if (piece_find(b, q) != piece_find(b, piece) ||
	    code_test(&b->code, b->code.called, t))
		return GOAL_TAIL;
	return GOAL_INSIDE;
}

/* joins the piece with the one at t, if going there does not leave */
static void merge_at(struct build *b, uint32_t piece, uint32_t t,
		     bool conditional)
{
	uint32_t q;

	if (t >= b->piece.at[piece].start && t < b->piece.at[piece].end)
		return;
	q = piece_at(b, t);
	if (q == CFG_NONE || b->piece.at[q].in_place ||
	    !code_test(&b->code, b->code.insn, t) ||
	    piece_find(b, piece) == piece_find(b, q))
		return;
	if (!merge_is_start(b, t, conditional))
		piece_union(b, piece, q);
}

/* the piece's last instruction lets control run on behind it */
static bool merge_falls_out(const struct build *b, const struct piece *p)
{
	const struct xfer *x;

	if (!p->nxfer)
		return true;
	x = &b->found.xfer.at[p->xfer + p->nxfer - 1];
	if (x->at + x->len != p->end)
		return true;
	/* one at the end does not return (doc/rewriting-pitfalls.md, 23) */
	if (x->kind == INSN_CALL || x->kind == INSN_ICALL)
		return !p->whole;
	return x->kind == INSN_COND || x->kind == INSN_SYSCALL;
}

/* control passes from a piece to an offset outside of it */
struct crossing {
	uint32_t piece, to;
	bool conditional;
};

/* the pieces of which one thread lists the crossings */
struct share {
	const struct build *b;
	uint32_t piece, end;
	VEC(struct crossing) at;
};

/* lists the crossings from piece i */
static void share_list(struct share *s, uint32_t i)
{
	const struct build *b = s->b;
	const struct piece *p = &b->piece.at[i];
	struct crossing fall = {i, p->end, false};

	for (uint32_t x = 0; x < p->nxfer; x++) {
		const struct xfer *t = &b->found.xfer.at[p->xfer + x];
		struct crossing c = {i, t->target, t->kind == INSN_COND};

		if ((t->kind == INSN_JUMP || t->kind == INSN_COND) &&
		    t->target != CODE_NONE &&
		    (t->target < p->start || t->target >= p->end))
			vec_push(&s->at, c);
	}
	if (merge_falls_out(b, p) && i + 1 < b->piece.n &&
	    b->piece.at[i + 1].start == p->end)
		vec_push(&s->at, fall);
}

/* thread body */
static void *share_list_all(void *arg)
{
	struct share *s = arg;

	for (uint32_t i = s->piece; i < s->end; i++)
		if (!s->b->piece.at[i].in_place)
			share_list(s, i);
	return NULL;
}

/* merges along direct jumps, and where control falls from piece to piece */
static void merge_crossings(struct build *b)
{
	enum { LEAST = 1 << 12 }; /* pieces; fewer are not worth a thread */
	struct share share[PARALLEL_MAX] = {{0}};
	size_t n = b->piece.n;
	unsigned shares = parallel_count(n, LEAST);

	for (unsigned t = 0; t < shares; t++) {
		share[t].b = b;
		share[t].piece = (uint32_t)parallel_first(n, shares, t);
		share[t].end = (uint32_t)parallel_first(n, shares, t + 1);
	}
	parallel_run(share_list_all, share, sizeof *share, shares);
	for (unsigned t = 0; t < shares; t++) {
		for (size_t i = 0; i < share[t].at.n; i++) {
			const struct crossing *c = &share[t].at.at[i];

			merge_at(b, c->piece, c->to, c->conditional);
		}
		vec_free(&share[t].at);
	}
}

void merge_pieces(struct build *b)
{
	merge_crossings(b);
	for (size_t i = 0; i < b->site.n; i++) {
		uint32_t p = piece_at(b, b->site.at[i].start);

		if (p != CFG_NONE && !b->piece.at[p].in_place)
			merge_at(b, p, b->site.at[i].pad, true);
	}
	for (size_t i = 0; i < b->jump.n; i++) {
		const struct jump_site *j = &b->jump.at[i];
		uint32_t p = piece_at(b, j->at);

		for (size_t t = 0; t < j->target.n; t++)
			merge_at(b, p, code_offset(&b->code,
						   j->target.at[t]), false);
	}
	pieces_flatten(b);
}
