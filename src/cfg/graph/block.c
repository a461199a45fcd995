/*
 * block: where the blocks of a piece are, and where control goes behind each.
 *
 * A block ends at a transfer of control (calls and system calls included: a
 * frame may die or be born there) or before a leader.
 *
 *	leaders   |              |              |
 *	insns     a  b  c  jcc   d  e  f  call  g  h  i   j  k  ret
 *	blocks    [-----------)  [-----------)  [------)  [-------)
 *
 * Alignment padding between blocks that no jump leads to is a block of its
 * own without edges, so that it does not look like a way into the next one.
 */
#include "base/bisect.h"
#include "cfg/build.h"

#include <stdlib.h>

bool block_is_fill(const struct code *k, uint32_t off, uint32_t end)
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
	const struct xfer *x = p->nxfer ? &b->found.xfer.at[p->xfer] : NULL;
	const struct xfer *xend = p->nxfer ? x + p->nxfer : NULL;
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

static void succ_add(successors *out, uint32_t to, enum edge_kind kind)
{
	struct successor s = {.to = to, .kind = (uint8_t)kind};

	vec_push(out, s);
}

/* control goes to offset t: inside, or out of the procedure */
static void succ_to(const struct build *b, uint32_t piece, uint32_t t,
		    enum edge_kind kind, successors *out)
{
	bool falls = kind == EDGE_FALL || kind == EDGE_AFTER;

	/* a panic is the last that some functions call */
	if (falls && t >= b->piece.at[piece].end &&
	    cfg_is_go(b->cfg, code_address(&b->code,
					   b->piece.at[piece].start))) {
		succ_add(out, CODE_NONE, EDGE_NORETURN);
		return;
	}
	switch (block_goal(b, piece, t)) {
	case GOAL_INSIDE:
		succ_add(out, t, kind);
		break;
	case GOAL_TAIL:
		succ_add(out, CODE_NONE, EDGE_TAIL);
		break;
	case GOAL_NOWHERE:
		/* a direct jump to code that is left alone still leaves */
		succ_add(out, CODE_NONE,
			 kind == EDGE_FALL ? EDGE_UNKNOWN : EDGE_TAIL);
	}
}

/* the landing pads of the call at offset `at` */
static void succ_pads(const struct build *b, uint32_t piece, uint32_t at,
		      successors *out)
{
	size_t i;

	bisect(i, b->site.n, b->site.at[i].end <= at);
	for (; i < b->site.n && b->site.at[i].start <= at; i++)
		if (b->site.at[i].end > at)
			succ_to(b, piece, b->site.at[i].pad, EDGE_UNWIND,
				out);
}

/* the block ends in a call of what is known never to return */
static bool call_stays(const struct build *b, const struct cut *c)
{
	uint32_t q;

	if (!b->noreturn || c->kind != INSN_CALL || c->target == CODE_NONE)
		return false;
	q = piece_at(b, c->target);
	return q != CFG_NONE && b->noreturn[piece_find(b, q)];
}

/*
 * The last call of a procedure does not return (doc/rewriting-pitfalls.md,
 * 23). Where neither an FDE nor a symbol's size says that the procedure ends
 * there, the code behind may be its own.
 */
static bool call_is_last(const struct build *b, uint32_t piece,
			 const struct cut *c)
{
	const struct piece *p = &b->piece.at[piece];

	return c->end == p->end &&
	       (p->whole || block_goal(b, piece, c->end) != GOAL_INSIDE);
}

/* behind a call, and to its landing pads */
static void succ_call(const struct build *b, uint32_t piece,
		      const struct cut *c, successors *out)
{
	if (call_is_last(b, piece, c) || call_stays(b, c))
		succ_add(out, CODE_NONE, EDGE_NORETURN);
	else
		succ_to(b, piece, c->end, EDGE_AFTER, out);
	succ_pads(b, piece, c->last, out);
}

static int jump_order(const void *key, const void *elem)
{
	uint32_t at = *(const uint32_t *)key;
	const struct jump_site *j = elem;

	return at < j->at ? -1 : at > j->at;
}

struct jump_site *build_jump_at(const struct build *b, uint32_t off)
{
	return b->jump.n ? bsearch(&off, b->jump.at, b->jump.n,
				   sizeof *b->jump.at, jump_order) : NULL;
}

/* where an indirect jump leads, as far as it is understood */
static void succ_dispatch(const struct build *b, uint32_t piece,
			  const struct cut *c, successors *out)
{
	const struct jump_site *j = build_jump_at(b, c->last);

	if (!j || j->d.status == DISPATCH_UNKNOWN)
		succ_add(out, CODE_NONE, EDGE_UNKNOWN);
	else if (j->d.status == DISPATCH_TAIL)
		succ_add(out, CODE_NONE, EDGE_TAIL);
	else if (j->d.status == DISPATCH_AWAY)
		succ_add(out, CODE_NONE, EDGE_AWAY);
	if (j && j->hub != CFG_NONE) {
		succ_add(out, j->hub, EDGE_HUB);
	} else if (j) {
		for (size_t t = 0; t < j->target.n; t++)
			succ_to(b, piece,
				code_offset(&b->code, j->target.at[t]),
				EDGE_TABLE, out);
	}
}

void block_successors(const struct build *b, uint32_t piece,
		      const struct cut *c, successors *out)
{
	out->n = 0;
	if (c->fill)
		return;
	switch (c->kind) {
	case INSN_JUMP:
		succ_to(b, piece, c->target, EDGE_JUMP, out);
		break;
	case INSN_COND:
		succ_to(b, piece, c->target, EDGE_TAKEN, out);
		succ_to(b, piece, c->end, EDGE_FALL, out);
		break;
	case INSN_CALL:
	case INSN_ICALL:
		succ_call(b, piece, c, out);
		break;
	case INSN_SYSCALL:
		succ_to(b, piece, c->end, EDGE_AFTER, out);
		break;
	case INSN_RET:
		succ_add(out, CODE_NONE, EDGE_RETURN);
		break;
	case INSN_IJUMP:
		succ_dispatch(b, piece, c, out);
		break;
	case INSN_TRAP:
		succ_add(out, CODE_NONE, EDGE_NORETURN);
		break;
	default:
		succ_to(b, piece, c->end, EDGE_FALL, out);
	}
}
