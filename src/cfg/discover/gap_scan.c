/*
 * gap_scan: where what has no blocks seems to branch to.
 *
 * Code that is not proved to be code, and pieces that are left in place, may
 * enter any procedure. All of it is decoded from its beginning, gap by gap
 * between pieces:
 *
 *	  piece    gap     piece in place   gap   piece
 *	[=======)........[~~~~~~~~~~~~~~~~)......[=====)
 *
 * Discovery goes on in rounds, and a round changes few gaps: what was read in
 * those that are as they were is kept. A branch within its own gap leads to
 * no piece as long as the gap is what it is, and is not noted. Code that is
 * left in place may also run on into the piece behind it: handlers of OCaml's
 * exceptions, to which only addresses lead, go on in their procedure.
 */
#include "cfg/build.h"

/* what is being read anew, and what was read before */
struct reading {
	struct build *b;
	struct outside old;
	size_t next; /* of old.gap */
};

/* notes where the gap branches to, as far as it decodes */
static void read_gap(struct build *b, const struct gap *g)
{
	const struct code *k = &b->code;
	struct insn i = {.kind = INSN_BAD};
	uint32_t t;

	for (uint32_t off = g->start; off < g->end;
	     off += i.len ? i.len : 1u << k->shift) {
		k->isa->scan(code_bytes(k, off), g->end - off,
			     code_address(k, off), &i);
		if (i.kind != INSN_JUMP && i.kind != INSN_COND &&
		    i.kind != INSN_CALL)
			continue;
		t = code_offset(k, i.target);
		if (t != CODE_NONE && (t < g->start || t >= g->end))
			vec_push(&b->outside.target, t);
	}
	if (!g->sure || i.kind == INSN_BAD || insn_ends_flow(&i))
		return;
	t = code_offset(k, i.addr + i.len);
	if (t == g->end)
		vec_push(&b->outside.target, t);
}

/* the next gap; sure: an unwind table says that it is code */
static void add_gap(struct reading *r, uint32_t start, uint32_t end, bool sure)
{
	struct outside *o = &r->b->outside;
	const struct outside *old = &r->old;
	struct gap g = {start, end, sure, o->target.n, 0};

	if (start >= end)
		return;
	while (r->next < old->gap.n && old->gap.at[r->next].start < start)
		r->next++;
	if (r->next < old->gap.n && old->gap.at[r->next].start == start &&
	    old->gap.at[r->next].end == end) {
		const struct gap *same = &old->gap.at[r->next];

		for (size_t i = 0; i < same->ntarget; i++)
			vec_push(&o->target, old->target.at[same->target + i]);
	} else {
		read_gap(r->b, &g);
	}
	g.ntarget = o->target.n - g.target;
	vec_push(&o->gap, g);
}

/* all that no piece covers, and pieces left in place */
static void read_all(struct build *b)
{
	struct reading r = {.b = b, .old = b->outside};
	size_t p = 0;

	b->outside = (struct outside){.known = true};
	for (unsigned i = 0; i < b->code.nrange; i++) {
		const struct code_range *c = &b->code.range[i];
		uint32_t off = c->offset;
		uint32_t end = off + (uint32_t)(c->end - c->start);

		for (; p < b->piece.n && b->piece.at[p].start < end; p++) {
			const struct piece *q = &b->piece.at[p];

			add_gap(&r, off, q->start, false);
			if (q->in_place)
				add_gap(&r, q->start, q->end,
					q->fde != CFG_NONE);
			off = q->end;
		}
		add_gap(&r, off, end, false);
	}
	gap_scan_free(&r.old);
}

/*
 * Does a branch that was met in a gap lead to t? Most gaps are data: a branch
 * into a stub does not count nor, unless the gap is sure to be code, one into a
 * procedure that has an unwind table.
 */
static bool branch_counts(const struct build *b, uint32_t t, bool sure)
{
	uint32_t q = piece_at(b, t);

	if (q == CFG_NONE || b->piece.at[q].start == t)
		return q != CFG_NONE;
	return !stubs_hold(b, t) &&
	       (sure || b->piece.at[q].fde == CFG_NONE);
}

void gap_scan_mark(struct build *b)
{
	const struct outside *o = &b->outside;

	if (!o->known)
		read_all(b);
	for (size_t i = 0; i < o->gap.n; i++) {
		const struct gap *g = &o->gap.at[i];

		for (size_t t = g->target; t < g->target + g->ntarget; t++)
			if (branch_counts(b, o->target.at[t], g->sure))
				code_lead(&b->code, b->code.entry,
					  o->target.at[t]);
	}
}

void gap_scan_free(struct outside *o)
{
	vec_free(&o->gap);
	vec_free(&o->target);
}
