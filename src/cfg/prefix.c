/*
 * prefix: instructions that control may enter behind their prefix.
 *
 * glibc's malloc does without the processor's lock while there is one thread:
 *
 *	        cmpl $0, single_threaded
 *	        je   1f                      blocks
 *	off     lock                         P  [off, off+1)  jumps to next
 *	1:      cmpxchg %rdx, (%rdi)         B  [off+1, next) falls there
 *	next    ...
 *
 * These are two instructions that overlap. What runs at `off` is the whole of
 * it, the prefix included; but blocks do not overlap, so its block has the
 * prefix alone, and is said to jump to what follows. Where code is written
 * again each is a whole instruction.
 */
#include "cfg/build.h"

bool prefix_passed(const struct build *b, const struct piece *p, uint32_t to)
{
	const struct code *k = &b->code;
	struct insn whole, rest;
	uint32_t off = to - 1;

	if (!k->isa->prefix || to == p->start || p->holes ||
	    !code_test(k, k->insn, off) || !k->isa->prefix(*code_bytes(k, off)))
		return false;
	k->isa->scan(code_bytes(k, off), p->end - off, 0, &whole);
	k->isa->scan(code_bytes(k, to), p->end - to, 0, &rest);
	return whole.kind == INSN_SEQ && rest.kind == INSN_SEQ &&
	       whole.len == rest.len + 1 && off + whole.len < p->end;
}

/* decodes the piece again; split[]: its prefixes, by position */
static void split_piece(struct build *b, struct piece *p,
			const uint32_t *split, size_t n)
{
	const struct code *k = &b->code;
	struct found f = {0};
	struct insn i;

	for (uint32_t off = p->start; off < p->end; off += i.len) {
		k->isa->scan(code_bytes(k, off), p->end - off,
			     code_address(k, off), &i);
		if (n && *split == off) {
			i.kind = INSN_JUMP;
			i.target = code_address(k, off + i.len);
			i.len = 1;
			code_set(k, k->insn, off + 1);
			split++;
			n--;
		}
		found_take(b, &f, off, &i);
	}
	p->xfer = (uint32_t)b->found.xfer.n;
	p->nxfer = (uint32_t)f.xfer.n;
	f.ref.n = 0; /* known from the first time */
	found_append(&b->found, &f);
}

void prefix_split(struct build *b, offsets *split)
{
	size_t n = 0;

	offsets_sort(split);
	for (size_t i = 0; i < split->n; i++)
		if (!n || split->at[n - 1] != split->at[i])
			split->at[n++] = split->at[i];
	for (size_t i = 0, end; i < n; i = end) {
		struct piece *p = &b->piece.at[piece_at(b, split->at[i])];

		for (end = i; end < n && split->at[end] < p->end; end++)
			;
		if (!p->holes)
			split_piece(b, p, split->at + i, end - i);
	}
}
