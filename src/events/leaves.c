/* leaves: see leaves.h. */
#include "events/leaves.h"

enum { NOT_ASKED, LEAF, NO_LEAF };

/* can control leave the block of the cfg for another procedure, or be lost? */
static bool may_leave(const struct cfg *c, const struct carriers *t, uint32_t b)
{
	const struct block *k = &c->block.at[b];

	if (!(t->block[b] & SURVEY_MOVES) || k->flags & BLOCK_PAD ||
	    k->last == INSN_CALL || k->last == INSN_ICALL ||
	    k->last == INSN_SYSCALL || k->last == INSN_IJUMP)
		return true;
	for (uint32_t i = k->edge; i < cfg_edges_end(c, b); i++)
		if (c->edge.at[i].kind != EDGE_RETURN &&
		    c->edge.at[i].kind >= EDGE_HUB)
			return true;
	return false;
}

/* does the stack pointer change by anything but constants? */
static bool moves_stack(const struct cfg *c, const struct block *k)
{
	regset sp = (regset)1 << c->isa->sp;
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn in;

	for (uint64_t at = k->start; at < block_end(k); at += in.len) {
		c->isa->decode(code + (at - k->start), block_end(k) - at, at,
			       &in);
		if (!in.len || (in.writes & sp && !(in.reads & sp)))
			return true;
	}
	return false;
}

/* a procedure that is all counted, calls nothing and always returns */
static bool is_leaf(const struct cfg *c, const struct carriers *t, uint32_t p)
{
	const struct procedure *q = &c->proc.at[p];

	for (uint32_t i = 0; i < q->npart; i++) {
		const struct part *k =
			&c->part.at[c->proc_part.at[q->part + i]];

		for (uint32_t b = k->block; b < k->block + k->nblock; b++)
			if (may_leave(c, t, b) ||
			    moves_stack(c, &c->block.at[b]))
				return false;
	}
	return !q->open && !q->unknown && q->returns;
}

bool leaves_has(uint8_t *known, const struct cfg *c, const struct carriers *t,
		uint32_t p)
{
	/* threads that ask at once find the same */
	uint8_t is = __atomic_load_n(&known[p], __ATOMIC_RELAXED);

	if (is == NOT_ASKED) {
		is = is_leaf(c, t, p) ? LEAF : NO_LEAF;
		__atomic_store_n(&known[p], is, __ATOMIC_RELAXED);
	}
	return is == LEAF;
}
