/*
 * escape: which part of the frame can only its procedure reach.
 *
 * The unwind table tells where the stack pointer (or the frame pointer)
 * stands at every instruction, so that one look at each instruction finds
 * every address of a local that gets into a register or into memory, without
 * any data flow. Objects extend upwards from their address: what lies below
 * the lowest such address is private. (Compilers put spilled registers below
 * the program's variables.)
 *
 * Addresses are only ever bounded from below here; that is all that is asked.
 */
#include "cfg/body.h"

/* what an operand holds, as far as the frame is concerned */
struct place {
	enum {
		PLACE_PLAIN, /* no address of the frame that is not noted */
		PLACE_FRAME, /* an address at or above `low` */
		PLACE_LOST,  /* some address of the frame */
	} kind;
	int64_t low; /* from the stack pointer at entry */
};

static const struct place plain = {PLACE_PLAIN, 0};
static const struct place lost = {PLACE_LOST, 0};

struct search {
	struct body *y;
	struct place sp, fp; /* at the instruction at hand */
	struct place tmp[UOP_NREGS - UOP_TMP0];
	bool by_sp; /* the table tells of sp at the instruction at hand */

	/* of the frame pointer where the table does not tell */
	bool fp_set;	 /* from the stack pointer... */
	bool fp_general; /* in several ways: it is a register like any other */
	int64_t fp_low;

	/* of the stack pointer where the table does not tell */
	bool window; /* straight on from where it does */
	struct place now;  /* there */
	struct place held; /* lowest that it is put to */
};

static struct place place_at(int64_t low)
{
	return (struct place){PLACE_FRAME, low};
}

/* the lower of two addresses of the frame */
static struct place place_min(struct place a, struct place b)
{
	if (a.kind == PLACE_LOST || b.kind == PLACE_PLAIN)
		return a;
	if (b.kind == PLACE_LOST || a.kind == PLACE_PLAIN)
		return b;
	return a.low < b.low ? a : b;
}

/* what an operand of a micro-operation holds */
static struct place operand(const struct search *q, uint8_t o)
{
	const struct isa *isa = q->y->b->isa;

	if (o == isa->sp)
		return q->sp;
	if (o == isa->fp)
		return q->fp;
	return o >= UOP_TMP0 && o < UOP_NREGS ? q->tmp[o - UOP_TMP0] : plain;
}

/* a + imm, where the other operand must be that immediate */
static struct place place_add(struct place a, uint8_t other, int64_t imm)
{
	if (other != UOP_IMM || a.kind != PLACE_FRAME ||
	    __builtin_add_overflow(a.low, imm, &a.low))
		return lost;
	return a;
}

/* what u computes */
static struct place result(const struct search *q, const struct uop *u)
{
	struct place a = operand(q, u->a), b = operand(q, u->b);

	switch (u->code) {
	case UOP_OTHER: /* see struct lifted_insn's `opaque` */
	case UOP_LOAD:
	case UOP_CMP:
	case UOP_TEST:
	case UOP_CCMP:
		return plain;
	default:
		break;
	}
	if (a.kind == PLACE_PLAIN && b.kind == PLACE_PLAIN)
		return plain;
	if (u->code == UOP_COPY && u->width == 64)
		return a;
	if (u->code == UOP_ADD && u->width == 64)
		return a.kind != PLACE_PLAIN ? place_add(a, u->b, u->imm) :
					       place_add(b, u->a, u->imm);
	if (u->code == UOP_SUB && u->width == 64 && b.kind == PLACE_PLAIN)
		return place_add(a, u->b, -(uint64_t)u->imm);
	return lost;
}

static bool is_sum(const struct uop *u)
{
	return u->code == UOP_ADD || u->code == UOP_SUB ||
	       u->code == UOP_COPY;
}

/* where the pointers stand at addr, by the table and what was surveyed */
static void look_up(struct search *q, uint64_t addr)
{
	const struct frames *f = &q->y->frames;
	const struct isa *isa = q->y->b->isa;
	int64_t low;

	q->by_sp = frames_offset(f, addr, isa->sp, &low);
	q->sp = q->by_sp ? place_at(low) :
		q->held.kind == PLACE_FRAME ? q->held : lost;
	if (frames_offset(f, addr, isa->fp, &low))
		q->fp = place_at(low);
	else if (q->fp_set && !q->fp_general &&
		 !frames_fp_untouched(f, addr))
		q->fp = place_at(q->fp_low);
	else
		q->fp = plain;
	for (unsigned i = 0; i < UOP_NREGS - UOP_TMP0; i++)
		q->tmp[i] = plain;
}

/* --- first walk: what the pointers are set to */

/* the frame pointer is set */
static void survey_fp(struct search *q, const struct uop *u)
{
	struct place x = result(q, u);

	if (x.kind == PLACE_PLAIN)
		return;
	if (!is_sum(u) || x.kind == PLACE_LOST || u->a == q->y->b->isa->fp ||
	    (q->fp_set && x.low != q->fp_low))
		q->fp_general = true;
	q->fp_set = true;
	q->fp_low = x.low;
}

/*
 * The stack pointer is set. In the straight line that leaves the part where
 * the table tells of it, its value is known. Further on it may be raised, or
 * set from the frame pointer; what else lowers it cannot be followed.
 */
static void survey_sp(struct search *q, const struct uop *u)
{
	struct place old = q->sp, x;

	if (q->window)
		q->sp = q->now;
	x = result(q, u);
	q->sp = old;
	if (q->window) {
		q->now = x.kind == PLACE_FRAME ? x : lost;
	} else if (u->a == q->y->b->isa->sp && is_sum(u) &&
		   u->b == UOP_IMM &&
		   (u->code == UOP_ADD) == (u->imm >= 0)) {
		return;
	} else {
		q->held = place_min(q->held,
				    x.kind == PLACE_FRAME ? x : lost);
	}
}

/* one instruction */
static void survey_insn(struct search *q, uint32_t off,
			const struct lifted_insn *i)
{
	const struct code *k = &q->y->b->code;
	const struct isa *isa = q->y->b->isa;

	if (q->by_sp) {
		q->window = true;
		q->now = q->sp;
	} else if (code_test(k, k->leader, off)) {
		q->window = false;
	}
	for (unsigned j = 0; j < i->nuop; j++) {
		struct uop u = q->y->uop.at[i->uop + j];

		if (u.dst == isa->fp)
			survey_fp(q, &u);
		else if (u.dst == isa->sp && (q->window || !q->by_sp))
			survey_sp(q, &u);
		else if (u.dst >= UOP_TMP0 && u.dst < UOP_NREGS)
			q->tmp[u.dst - UOP_TMP0] = result(q, &u);
	}
	if (q->window && !q->by_sp)
		q->held = place_min(q->held, q->now);
}

/* --- second walk: who learns of them */

static void note(struct search *q, struct place x)
{
	struct escapes *e = &q->y->escapes;

	if (x.kind == PLACE_LOST)
		e->any = true;
	if (x.kind == PLACE_FRAME && x.low < e->lowest)
		e->lowest = x.low;
}

/*
 * Addresses of locals may be added up in the stack and frame pointers and
 * used to load and store; whatever else is done with them, they are out.
 */
static void collect_uop(struct search *q, const struct uop *u)
{
	const struct isa *isa = q->y->b->isa;
	struct place x;

	if (u->code == UOP_STORE) {
		note(q, operand(q, u->b));
		return;
	}
	if (u->code == UOP_CLOBBER || u->code == UOP_BRANCH ||
	    u->code == UOP_JUMP)
		return;
	x = result(q, u);
	if (u->dst >= UOP_TMP0 && u->dst < UOP_NREGS)
		q->tmp[u->dst - UOP_TMP0] = x;
	else if (u->dst < 32 && u->dst != isa->sp &&
		 (u->dst != isa->fp || q->fp_general))
		note(q, x);
}

static void collect_insn(struct search *q, uint32_t off,
			 const struct lifted_insn *i)
{
	const struct isa *isa = q->y->b->isa;

	(void)off;
	/* an instruction that is not told in full may pass on what it reads */
	if (i->opaque >> isa->sp & 1)
		note(q, q->sp);
	if (i->opaque >> isa->fp & 1)
		note(q, q->fp);
	for (unsigned j = 0; j < i->nuop; j++) {
		struct uop u = q->y->uop.at[i->uop + j];

		collect_uop(q, &u);
	}
}

/* --- all of it */

/* calls something that may return twice: all that it meets was stored */
static bool calls_twice(const struct build *b, uint32_t target)
{
	static const char *const names[] = {"_setjmp", "__sigsetjmp",
		"getcontext", "setjmp", "sigsetjmp", "vfork", "__vfork"};
	uint32_t p = target == CODE_NONE ? CFG_NONE :
					   build_piece_at(b, target);
	const struct procedure *r;

	if (p == CFG_NONE || b->cfg->part.at[p].proc == CFG_NONE)
		return false;
	r = &b->cfg->proc.at[b->cfg->part.at[p].proc];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if ((r->import && !strcmp(r->import, names[i])) ||
		    (r->name && !strcmp(r->name, names[i])))
			return true;
	return false;
}

static bool any_call_twice(const struct body *y)
{
	const struct build *b = y->b;

	for (uint32_t i = 0; i < y->npiece; i++) {
		const struct piece *p = &b->piece.at[y->piece[i]];

		for (uint32_t x = 0; x < p->nxfer; x++) {
			const struct xfer *t = &b->found.xfer.at[p->xfer + x];

			if (t->kind == INSN_CALL && calls_twice(b, t->target))
				return true;
		}
	}
	return false;
}

typedef void visitor(struct search *q, uint32_t off,
		     const struct lifted_insn *i);

static void visit(struct search *q, visitor *fn, uint32_t at, size_t avail)
{
	struct lifted_insn l = body_insn(q->y, at, avail);

	look_up(q, code_address(&q->y->b->code, at));
	fn(q, at, &l);
}

/* calls fn for the instructions that matter, in order */
static void walk(struct search *q, visitor *fn)
{
	struct body *y = q->y;
	const struct isa *isa = y->b->isa;
	const struct code *k = &y->b->code;

	for (uint32_t i = 0; i < y->npiece && !y->escapes.any; i++) {
		const struct piece *p = &y->b->piece.at[y->piece[i]];
		uint32_t at = code_next(k, k->insn, p->start, p->end);

		q->window = false;
		for (; at < p->end;
		     at = code_next(k, k->insn, at + 1, p->end))
			if (isa->uses_frame(code_bytes(k, at), p->end - at))
				visit(q, fn, at, p->end - at);
			else if (code_test(k, k->leader, at))
				q->window = false;
	}
}

static void find_escapes(struct body *y)
{
	struct search q = {.y = y};

	y->escapes.known = true;
	y->escapes.lowest = INT64_MAX;
	y->escapes.any = any_call_twice(y);
	walk(&q, survey_insn);
	walk(&q, collect_insn);
}

bool body_is_private(struct body *y, int64_t offset)
{
	if (!y->escapes.known)
		find_escapes(y);
	return !y->escapes.any && offset < y->escapes.lowest;
}
