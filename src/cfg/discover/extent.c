/*
 * extent: function symbols that say how long they are.
 *
 * Where there is no unwind table (a program built without, musl), a symbol with
 * a size says as much as an FDE: all of this is the code of one procedure. So
 * it is decoded front to back, and the cases of its switches are found and
 * bounded, though nothing but a table leads to them.
 *
 * An assembler's author sets sizes by hand, and may have put data between: a
 * piece in which anything is doubtful is dropped, and its code is found as if
 * the symbol had no size (discover.c).
 */
#include "cfg/build.h"

/* the extent of a symbol, as offsets; false if it is of no use */
static bool extent_of(const struct build *b, const struct symbol *s,
		      struct piece *p)
{
	const struct code *k = &b->code;
	uint32_t mask = (1u << k->shift) - 1;

	if (s->kind != SYMBOL_FUNC || !s->size)
		return false;
	p->start = code_offset(k, s->addr);
	if (p->start == CODE_NONE || ((p->start | s->size) & mask) ||
	    s->size > code_range_of(k, p->start)->end - s->addr)
		return false;
	p->end = p->start + (uint32_t)s->size;
	return true;
}

/*
 * The assembler marks data with code behind it, at s, before the end of the
 * last piece. *data: the mark before said that data begins. Not believed
 * without code behind: linkers that merge strings leave marks of data anywhere.
 */
static bool marks_code(const struct build *b, const struct symbol *s,
		       uint32_t last, bool *data)
{
	bool was = *data;

	if (s->kind != SYMBOL_DATA_MARK && s->kind != SYMBOL_CODE_MARK)
		return false;
	*data = s->kind == SYMBOL_DATA_MARK;
	return was && !*data && code_offset(&b->code, s->addr) < last;
}

void extents_list(struct build *b)
{
	size_t nfde = b->piece.n, f = 0;
	uint32_t last = 0;
	bool data = false;

	for (size_t i = 0; i < b->im->nsymbol; i++) {
		const struct symbol *s = &b->im->symbol[i];
		struct piece p = {.fde = CFG_NONE, .source = PART_SYMBOL,
				  .whole = true};

		if (marks_code(b, s, last, &data) && b->piece.n > nfde &&
		    b->piece.at[b->piece.n - 1].end == last)
			b->piece.n--;
		if (!extent_of(b, s, &p) || p.start < last)
			continue;
		while (f < nfde && b->piece.at[f].end <= p.start)
			f++;
		if (f < nfde && b->piece.at[f].start < p.end)
			continue;
		p.in_place = pinned_go_stays(b->cfg, s->addr);
		last = p.end;
		data = false;
		vec_push(&b->piece, p);
	}
	if (b->piece.n > nfde)
		pieces_sort(b);
}

/* what was found in it was not */
static void extent_forget(struct build *b, const struct piece *p)
{
	code_clear(&b->code, b->code.insn, p->start, p->end);
	for (uint32_t i = 0; i < p->nxfer; i++)
		b->found.xfer.at[p->xfer + i].target = CODE_NONE;
}

void extents_drop(struct build *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->piece.n; i++) {
		const struct piece *p = &b->piece.at[i];

		if (p->holes && p->source == PART_SYMBOL)
			extent_forget(b, p);
		else
			b->piece.at[n++] = *p;
	}
	if (n == b->piece.n)
		return;
	b->piece.n = n;
	pieces_index(b);
}

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
