/*
 * descend: from bytes to instructions, along the control flow.
 *
 * For code that no unwind table vouches for, and for pieces in which the
 * linear sweep met data or a jump into the middle of an instruction. From
 * known entries every path is followed; each must decode, stay within the
 * limits or reach known code, and end. What is reached is code; in a piece
 * that an FDE covers, what lies between and decodes without doubt is too
 * (the cases of a switch that is not understood yet).
 *
 *	entry --> insn insn jcc --+--> insn ret      reached
 *	          word word       |                  loaded from: data
 *	          insn insn ret <-+
 *
 * Two instructions that overlap are both "reached" in code that jumps into
 * the middle of one; such pieces are not taken (but see prefix below).
 */
#include "cfg/build.h"

/* walks over all code that the descents together may make */
enum { DESCEND_EFFORT = 8 };

/* one instruction that was reached */
struct reached {
	uint32_t start, end;
};

struct descent {
	const struct build *b;
	uint32_t lo, hi;
	enum descend_care care;
	uint64_t effort; /* instructions that may still be tried */
	struct found found; /* its transfers are the queue of what to follow */
	VEC(struct reached) reached;
};

static void descent_free(struct descent *d)
{
	vec_free(&d->found.xfer);
	vec_free(&d->found.ref);
	vec_free(&d->reached);
}

/* takes the instruction at off for code */
static void descent_take(struct descent *d, uint32_t off, const struct insn *i)
{
	struct reached r = {off, off + i->len};

	vec_push(&d->reached, r);
	code_set(&d->b->code, d->b->code.insn, off);
	found_take(d->b, &d->found, off, i);
}

/* follows control flow from one place; NULL, or why it cannot be code */
static const char *descent_follow(struct descent *d, uint32_t off)
{
	const struct code *k = &d->b->code;
	struct insn i;

	while (!code_test(k, k->insn, off)) {
		if (off < d->lo || off >= d->hi)
			return "control runs off its end";
		if (d->effort == 0)
			return "too much effort to prove that this is code";
		d->effort--;
		k->isa->scan(code_bytes(k, off), d->hi - off,
			     code_address(k, off), &i);
		if (i.kind == INSN_BAD || code_test(k, k->data, off))
			return "control reaches what is no instruction";
		if (d->care != DESCEND_FDE && i.kind == INSN_UNKNOWN)
			return "unknown instruction";
		if (d->care == DESCEND_STRICT && i.kind == INSN_TRAP)
			return "no proof that this is code";
		descent_take(d, off, &i);
		off += i.len;
		if (insn_ends_flow(&i))
			break;
	}
	return NULL;
}

/* follows the seeds and then every branch met that stays within limits */
static const char *descent_run(struct descent *d, const uint32_t *seed,
			       size_t nseed)
{
	const char *why = NULL;

	for (size_t i = 0; i < nseed && !why; i++)
		why = descent_follow(d, seed[i]);
	for (size_t q = 0; q < d->found.xfer.n && !why; q++) {
		struct xfer x = d->found.xfer.at[q];

		if (x.kind != INSN_CALL && x.target >= d->lo &&
		    x.target < d->hi)
			why = descent_follow(d, x.target);
	}
	return why;
}

ORDER_BY(reached_order, struct reached, start)
ORDER_BY(xfer_order, struct xfer, at)

/* an instruction found earlier reaches over off */
static bool descent_overrun(const struct code *k, uint32_t off)
{
	uint32_t lo = code_range_of(k, off)->offset;
	struct insn i;

	for (uint32_t n = 1; n < k->isa->max_len && off - lo >= n; n++) {
		if (!code_test(k, k->insn, off - n))
			continue;
		/* it decoded within its limits: at most up to off's own end */
		k->isa->scan(code_bytes(k, off - n), n, 0, &i);
		return i.len == 0;
	}
	return false;
}

/* everything by position; false if two instructions overlap */
static bool descent_sort(struct descent *d)
{
	const struct code *k = &d->b->code;
	uint32_t last = CODE_NONE;

	vec_sort(&d->reached, reached_order);
	vec_sort(&d->found.xfer, xfer_order);
	for (size_t i = 0; i < d->reached.n; i++) {
		struct reached r = d->reached.at[i];

		if (code_next(k, k->insn, r.start + 1, r.end) != r.end ||
		    (r.start != last && descent_overrun(k, r.start)))
			return false;
		last = r.end;
	}
	return true;
}

/*
 * How far [off, end) is certainly code: to the end if all of it decodes and
 * meets the end exactly, else behind the last instruction after which
 * control cannot run into what follows.
 */
static uint32_t descent_clean(const struct descent *d, uint32_t off,
			      uint32_t end)
{
	const struct code *k = &d->b->code;
	uint32_t clean = off;
	struct insn i;

	while (off < end) {
		k->isa->scan(code_bytes(k, off), end - off,
			     code_address(k, off), &i);
		/* zeros between data are data, not traps */
		if (i.kind == INSN_BAD || i.kind == INSN_UNKNOWN ||
		    (i.kind == INSN_TRAP && i.pad) ||
		    code_test(k, k->data, off))
			return clean;
		off += i.len;
		if (insn_ends_flow(&i))
			clean = off;
	}
	return end;
}

/* takes what is certainly code in the unreached range [off, end) */
static void descent_fill(struct descent *d, uint32_t off, uint32_t end)
{
	const struct isa *isa = d->b->isa;
	const struct code *k = &d->b->code;
	struct insn i;

	while (off < end) {
		uint32_t clean = descent_clean(d, off, end);

		for (; off < clean; off += i.len) {
			isa->scan(code_bytes(k, off), end - off,
				  code_address(k, off), &i);
			descent_take(d, off, &i);
		}
		/* behind data only fixed-size instructions are found again */
		if (isa->align != isa->max_len)
			return;
		off += isa->align;
	}
}

/* fills all ranges between what is reached; requires descent_sort() */
static void descent_fill_all(struct descent *d)
{
	size_t n = d->reached.n;
	uint32_t at = d->lo;

	for (size_t i = 0; i < n; i++) {
		struct reached r = d->reached.at[i];

		if (r.start > at)
			descent_fill(d, at, r.start);
		at = r.end;
	}
	descent_fill(d, at, d->hi);
}

/* makes a piece of every contiguous run; requires descent_sort() */
static void descent_commit(struct build *b, struct descent *d,
			   const struct piece *like)
{
	uint32_t x = 0, base = (uint32_t)b->found.xfer.n;

	for (size_t i = 0; i < d->reached.n;) {
		struct piece p = *like;

		p.fresh &= p.start == d->reached.at[i].start;
		p.start = d->reached.at[i].start;
		p.end = d->reached.at[i++].end;
		while (i < d->reached.n && d->reached.at[i].start == p.end)
			p.end = d->reached.at[i++].end;
		p.xfer = base + x;
		while (x < d->found.xfer.n && d->found.xfer.at[x].at < p.end)
			x++;
		p.nxfer = base + x - p.xfer;
		vec_push(&b->piece, p);
	}
	found_append(&b->found, &d->found);
}

const char *descend_from(struct build *b, const uint32_t *seed, size_t nseed,
			 uint32_t lo, uint32_t hi, enum descend_care care,
			 const struct piece *like)
{
	struct descent d = {.b = b, .lo = lo, .hi = hi, .care = care};
	const char *why;

	/* a hostile file may make every seed fail after a long walk */
	d.effort = (uint64_t)DESCEND_EFFORT * b->code.total - b->effort;
	why = descent_run(&d, seed, nseed);
	b->effort = (uint64_t)DESCEND_EFFORT * b->code.total - d.effort;
	if (!why && !descent_sort(&d))
		why = "overlapping instructions";
	if (!why && care == DESCEND_FDE) {
		descent_fill_all(&d);
		if (!descent_sort(&d))
			why = "overlapping instructions";
	}
	if (!why)
		descent_commit(b, &d, like);
	else
		for (size_t i = 0; i < d.reached.n; i++)
			code_clear(&b->code, b->code.insn,
				   d.reached.at[i].start,
				   d.reached.at[i].start + 1);
	descent_free(&d);
	return why;
}

/* marks what instructions load from */
static void repair_mark_data(struct build *b)
{
	const struct code *k = &b->code;

	for (size_t i = 0; i < b->found.ref.n; i++) {
		const struct coderef *r = &b->found.ref.at[i];

		if (r->kind != REF_LOAD && r->kind != REF_STORE)
			continue;
		for (uint32_t n = 0; n < (r->size ? r->size : 1u) &&
				     r->to + n < k->total;
		     n += 1u << k->shift)
			code_set(k, k->data, r->to + n);
	}
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

/* does a branch to `to` pass over the prefix of an instruction of p? */
static bool prefix_passed(const struct build *b, const struct piece *p,
			  uint32_t to)
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

/* makes jumps of the prefixes at these offsets, in no order */
static void prefix_split(struct build *b, offsets *split)
{
	size_t n = 0;

	vec_sort(split, order_u32);
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

/*
 * Marks pieces with data in them or branches into an instruction's middle;
 * prefix: gets the prefixes that branches pass over.
 */
static void repair_mark_pieces(struct build *b, offsets *prefix)
{
	const struct code *k = &b->code;
	uint32_t p;

	for (size_t i = 0; i < b->found.xfer.n; i++) {
		uint32_t t = b->found.xfer.at[i].target;

		if (t == CODE_NONE || code_test(k, k->insn, t))
			continue;
		p = piece_at(b, t);
		if (p == CFG_NONE)
			continue;
		if (prefix_passed(b, &b->piece.at[p], t))
			vec_push(prefix, t - 1);
		else
			b->piece.at[p].holes = true;
	}
	for (size_t i = 0; i < b->found.ref.n; i++) {
		const struct coderef *r = &b->found.ref.at[i];

		if (!code_test(k, k->data, r->to))
			continue;
		p = piece_at(b, r->to);
		if (p != CFG_NONE)
			b->piece.at[p].holes = true;
	}
}

/* entries of every marked piece: branches from sound pieces, symbols, pads */
static void repair_seeds(const struct build *b, offsets *seed)
{
	const struct code *k = &b->code;

	for (size_t p = 0; p < b->piece.n; p++) {
		const struct piece *from = &b->piece.at[p];

		if (from->holes)
			continue;
		for (uint32_t x = 0; x < from->nxfer; x++) {
			uint32_t t = b->found.xfer.at[from->xfer + x].target;
			uint32_t q = t == CODE_NONE ? CFG_NONE :
						      piece_at(b, t);

			if (q != CFG_NONE && b->piece.at[q].holes)
				vec_push(seed, t);
		}
	}
	for (size_t i = 0; i < b->im->nsymbol; i++) {
		const struct symbol *s = &b->im->symbol[i];
		uint32_t off = s->kind == SYMBOL_FUNC ?
				       code_offset(k, s->addr) : CODE_NONE;
		uint32_t q = off == CODE_NONE ? CFG_NONE :
						piece_at(b, off);

		if (q != CFG_NONE && b->piece.at[q].holes)
			vec_push(seed, off);
	}
	for (size_t i = 0; i < b->site.n; i++) {
		uint32_t q = piece_at(b, b->site.at[i].pad);

		if (q != CFG_NONE && b->piece.at[q].holes)
			vec_push(seed, b->site.at[i].pad);
	}
}

/* some piece is marked; compiled code has none */
static bool any_holes(const struct build *b)
{
	for (size_t i = 0; i < b->piece.n; i++)
		if (b->piece.at[i].holes)
			return true;
	return false;
}

/* decodes one marked piece again; seed[] holds its entries */
static void repair_piece(struct build *b, const struct piece *p,
			 offsets *seed)
{
	struct piece like = *p;
	const char *why;

	code_clear(&b->code, b->code.insn, p->start, p->end);
	vec_push(seed, p->start);
	like.holes = true;
	why = descend_from(b, seed->at, seed->n, p->start, p->end,
			   DESCEND_FDE, &like);
	if (!why)
		return;
	like.in_place = why;
	like.nxfer = 0;
	vec_push(&b->piece, like);
}

/* takes back what the sweep found in the piece */
static void forget_piece(struct build *b, const struct piece *p)
{
	code_clear(&b->code, b->code.insn, p->start, p->end);
	for (uint32_t i = 0; i < p->nxfer; i++)
		b->found.xfer.at[p->xfer + i].target = CODE_NONE;
}

/*
 * Drops the pieces with holes that are known by the size of a symbol: an
 * assembler's author sets sizes by hand, and may have put data between. Their
 * code is found as if the symbol had no size (discover.c).
 */
static void drop_symbols(struct build *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->piece.n; i++) {
		const struct piece *p = &b->piece.at[i];

		if (p->holes && p->source == PART_SYMBOL)
			forget_piece(b, p);
		else
			b->piece.at[n++] = *p;
	}
	if (n == b->piece.n)
		return;
	b->piece.n = n;
	pieces_index(b);
}

void descend_repair(struct build *b)
{
	offsets seed = {0}, own = {0}, prefix = {0};
	VEC(struct piece) old = {0};
	size_t s = 0;

	repair_mark_data(b);
	repair_mark_pieces(b, &prefix);
	prefix_split(b, &prefix);
	vec_free(&prefix);
	drop_symbols(b);
	if (!any_holes(b))
		return;
	repair_seeds(b, &seed);
	vec_sort(&seed, order_u32);
	vec_append(&old, &b->piece);
	b->piece.n = 0;
	for (size_t i = 0; i < old.n; i++) {
		struct piece *p = &old.at[i];

		if (!p->holes) {
			vec_push(&b->piece, *p);
			continue;
		}
		own.n = 0;
		while (s < seed.n && seed.at[s] < p->start)
			s++;
		for (; s < seed.n && seed.at[s] < p->end; s++)
			vec_push(&own, seed.at[s]);
		repair_piece(b, p, &own);
	}
	vec_free(&seed);
	vec_free(&own);
	vec_free(&old);
}
