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
 *
 * Some tables are right at calls only: their first row, of the entry, holds on
 * through the prologue, and their last through the epilogues. So the stack
 * pointer is followed by the instructions themselves as long as they come in
 * a straight line from the entry; if that shows that the first row lags, it is
 * not believed elsewhere either. In an epilogue the stack pointer is higher
 * than the table says, which is as good for a lower bound.
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
	struct place reg[UOP_NREGS]; /* others: within a block */
	uint64_t live; /* those that hold an address of the frame */

	bool window; /* in a straight line from where sp was known... */
	struct place now; /* ... to here, where it is this */
	bool told;   /* the table tells of sp at the instruction at hand */
	bool lags;   /* not by its first row, which holds on for too long */
	struct place held; /* lowest that sp is put to where it is not told */

	/* of the frame pointer where the table does not tell */
	bool fp_set;	 /* from the stack pointer... */
	bool fp_general; /* in several ways: it is a register like any other */
	int64_t fp_low;
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
	return o < UOP_NREGS && q->live >> o & 1 ? q->reg[o] : plain;
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

/* where the stack pointer stands at addr */
static void look_up_sp(struct search *q, uint64_t addr)
{
	int64_t low;

	q->told = frames_offset(&q->y->frames, addr, q->y->b->isa->sp, &low);
	if (q->told && q->window && q->now.kind == PLACE_FRAME &&
	    q->now.low < low) {
		q->lags = true;
		q->y->escapes.any |= low != 0;
	}
	q->told &= !q->lags || low;
	if (q->told && !q->window) {
		q->window = true;
		q->now = place_at(low);
	}
	q->sp = q->window ? q->now : q->held.kind == PLACE_FRAME ? q->held :
								   lost;
}

/* the same of the frame pointer */
static void look_up_fp(struct search *q, uint64_t addr)
{
	const struct frames *f = &q->y->frames;
	int64_t low;

	if (frames_offset(f, addr, q->y->b->isa->fp, &low))
		q->fp = place_at(low);
	else if (q->fp_set && !q->fp_general && !frames_fp_untouched(f, addr))
		q->fp = place_at(q->fp_low);
	else
		q->fp = plain;
}

/*
 * The stack pointer is set. Where neither the table nor the straight line
 * tells of it, it may be raised, or set from the frame pointer; what else
 * lowers it cannot be followed.
 */
static void follow_sp(struct search *q, const struct uop *u)
{
	struct place x = result(q, u);
	bool raised = u->a == q->y->b->isa->sp && u->b == UOP_IMM &&
		      ((u->code == UOP_ADD && u->imm >= 0) ||
		       (u->code == UOP_SUB && u->imm <= 0));

	if (x.kind != PLACE_FRAME)
		x = lost;
	if (q->window)
		q->now = q->sp = x;
	if (!q->told && (q->window || !raised))
		q->held = place_min(q->held, x);
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

static void survey_uop(struct search *q, const struct uop *u)
{
	if (u->dst == q->y->b->isa->fp)
		survey_fp(q, u);
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
	if (u->dst < 32 && u->dst != isa->sp &&
	    (u->dst != isa->fp || q->fp_general))
		note(q, x);
}

/* --- all of it */

/* calls something that may return twice: all that it meets was stored */
static bool calls_twice(const struct build *b, uint32_t target)
{
	static const char *const names[] = {"_setjmp", "__sigsetjmp",
		"getcontext", "setjmp", "sigsetjmp", "vfork", "__vfork"};
	uint32_t p = target == CODE_NONE ? CFG_NONE :
					   piece_at(b, target);
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

typedef void visitor(struct search *q, const struct uop *u);

static void keep(struct search *q, unsigned r, struct place x)
{
	q->reg[r] = x;
	q->live &= ~((uint64_t)1 << r);
	q->live |= (uint64_t)(x.kind != PLACE_PLAIN) << r;
}

/* shows fn the micro-operations of an instruction, and follows them */
static void visit(struct search *q, visitor *fn, const struct lifted_insn *i)
{
	const struct isa *isa = q->y->b->isa;

	for (unsigned j = 0; j < i->nuop; j++) {
		struct uop u = q->y->uop.at[i->uop + j];

		fn(q, &u);
		if (u.dst == isa->sp)
			follow_sp(q, &u);
		else if (u.dst < UOP_NREGS && u.code != UOP_STORE)
			keep(q, u.dst, result(q, &u));
	}
	q->live &= ((uint64_t)1 << UOP_FLAGS) - 1; /* no temporaries */
	if (q->window && !q->told)
		q->held = place_min(q->held, q->now);
}

/* an instruction that is not told in full may pass on what it reads */
static void note_opaque(struct search *q, const struct lifted_insn *i)
{
	if (i->opaque >> q->y->b->isa->sp & 1)
		note(q, q->sp);
	if (i->opaque >> q->y->b->isa->fp & 1)
		note(q, q->fp);
}

/* the same for the instructions of a piece that matter, in order */
static void walk_piece(struct search *q, visitor *fn, const struct piece *p)
{
	const struct build *b = q->y->b;
	const struct code *k = &b->code;
	const struct xfer *x = &b->found.xfer.at[p->xfer];
	const struct xfer *stop = x + p->nxfer;
	uint32_t at = p->start;

	q->window = p->fresh;
	q->now = place_at(0);
	q->live = 0;
	for (; at < p->end; at = code_next(k, k->insn, at + 1, p->end)) {
		struct lifted_insn i;

		if (at != p->start && code_test(k, k->leader, at)) {
			q->window = false;
			q->live = 0;
		}
		for (; x < stop && x->at < at; x++) {
			q->window &= x->kind == INSN_CALL ||
				     x->kind == INSN_ICALL ||
				     x->kind == INSN_COND ||
				     x->kind == INSN_SYSCALL;
			q->live = 0;
		}
		if (!q->live &&
		    !b->isa->uses_frame(code_bytes(k, at), p->end - at))
			continue;
		i = body_insn(q->y, at, p->end - at);
		look_up_sp(q, code_address(k, at));
		look_up_fp(q, code_address(k, at));
		if (fn == collect_uop)
			note_opaque(q, &i);
		visit(q, fn, &i);
	}
}

/* the same for the whole procedure */
static void walk(struct search *q, visitor *fn)
{
	const struct body *y = q->y;

	for (uint32_t i = 0; i < y->npiece && !y->escapes.any; i++)
		walk_piece(q, fn, &y->b->piece.at[y->piece[i]]);
}

static void find_escapes(struct body *y)
{
	struct search q = {.y = y};

	y->escapes.known = true;
	y->escapes.lowest = INT64_MAX;
	y->escapes.any = any_call_twice(y);
	walk(&q, survey_uop);
	if (q.lags) {
		q = (struct search){.y = y, .lags = true};
		walk(&q, survey_uop);
	}
	walk(&q, collect_uop);
}

bool body_is_private(struct body *y, int64_t offset)
{
	if (!y->escapes.known)
		find_escapes(y);
	return !y->escapes.any && offset < y->escapes.lowest;
}
