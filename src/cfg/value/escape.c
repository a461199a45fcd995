/*
 * escape: whether code other than its procedure can reach the frame.
 *
 * Only if no address of it ever gets into a register other than the stack and
 * frame pointers, or into memory. Which address does not matter: a callee may
 * write upwards from the start of an object that it is given, and as well
 * downwards from its end. One look at each instruction decides it, without
 * any data flow.
 */
#include "cfg/value/body.h"

/* an instruction that is looked at */
struct suspect {
	uint32_t off;
	size_t avail; /* bytes there */
	unsigned nuop;
	struct uop uop[UOP_MAX];
};

struct search {
	struct body *y;
	uint64_t frame; /* operands that hold an address of the frame */
	bool fp_is_frame; /* the frame pointer is one, somewhere */
};

static bool holds_frame(const struct search *q, uint8_t o)
{
	return o < UOP_NREGS && q->frame >> o & 1;
}

/* u computes something of the frame's address, not merely uses it */
static bool makes_address(const struct search *q, const struct uop *u)
{
	switch (u->code) {
	case UOP_OTHER: /* see read_opaquely() */
	case UOP_LOAD:
	case UOP_CMP:
	case UOP_TEST:
	case UOP_CCMP:
		return false;
	default:
		return holds_frame(q, u->a) || holds_frame(q, u->b);
	}
}

/* the micro-operation lets an address of the frame out */
static bool lets_out(struct search *q, const struct uop *u)
{
	const struct isa *isa = q->y->b->isa;
	bool address;

	if (u->code == UOP_STORE)
		return holds_frame(q, u->b);
	if (u->dst >= UOP_NREGS || u->dst == UOP_FLAGS)
		return false;
	address = makes_address(q, u);
	if (u->dst > UOP_FLAGS) {
		q->frame &= ~((uint64_t)1 << u->dst);
		q->frame |= (uint64_t)address << u->dst;
	}
	return address && u->dst < UOP_FLAGS && u->dst != isa->sp &&
	       u->dst != isa->fp;
}

/* the instruction sets the frame pointer to something in the frame */
static bool sets_fp(struct search *q, const struct suspect *i)
{
	bool set = false;

	for (unsigned j = 0; j < i->nuop; j++) {
		const struct uop *u = &i->uop[j];

		set |= u->dst == q->y->b->isa->fp && makes_address(q, u);
		lets_out(q, u);
	}
	return set;
}

/*
 * The general registers that an instruction reads without the micro-
 * operations saying what becomes of them: it has an unknown result,
 * and they are not merely the address of what it loads or stores.
 */
static regset read_opaquely(const struct build *b, const struct suspect *x)
{
	const struct isa *isa = b->isa;
	struct insn i;
	bool exact = x->nuop > 0;

	for (unsigned j = 0; j < x->nuop; j++)
		exact &= x->uop[j].code != UOP_OTHER ||
			x->uop[j].dst == UOP_FLAGS;
	if (exact)
		return 0;
	isa->decode(code_bytes(&b->code, x->off), x->avail,
		    code_address(&b->code, x->off), &i);
	if (i.kind == INSN_UNKNOWN)
		return i.reads;
	if ((i.mem_read || i.mem_write) && i.mem_class != MEM_ATOMIC &&
	    i.mem_class != MEM_EXCL_STORE)
		return 0;
	/* one register changed in place: signed, with sp as a mere salt */
	if (!(i.writes & (i.writes - 1)) && i.writes & i.reads)
		i.reads &= ~((regset)1 << isa->sp);
	return i.kind == INSN_SEQ ? i.reads : 0;
}

/* the instruction lets an address of the frame out */
static bool insn_lets_out(struct search *q, const struct suspect *i)
{
	/* one that is not modelled in full may pass on what it reads */
	bool out = read_opaquely(q->y->b, i) & q->frame;

	for (unsigned j = 0; j < i->nuop; j++)
		out |= lets_out(q, &i->uop[j]);
	return out;
}

/*
 * What holds an address of the frame at off: the stack pointer, and the frame
 * pointer if it is used as one and not still, by the unwind table, the
 * caller's. (Some tables are right at calls only, and lag behind in the
 * prologue: once it is set, they are not asked.)
 */
static void look_up(struct search *q, uint32_t off, bool set)
{
	const struct isa *isa = q->y->b->isa;
	uint64_t addr = code_address(&q->y->b->code, off);

	q->frame = (uint64_t)1 << isa->sp;
	if (q->fp_is_frame &&
	    (set || !frames_fp_untouched(&q->y->frames, addr)))
		q->frame |= (uint64_t)1 << isa->fp;
}

/* some instruction of the piece that matters is of the kind asked for */
static bool any_insn(struct search *q, const struct piece *p,
		     bool (*is)(struct search *, const struct suspect *))
{
	const struct build *b = q->y->b;
	const struct code *k = &b->code;
	bool set = false;

	for (uint32_t at = code_next(k, k->insn, p->start, p->end);
	     at < p->end; at = code_next(k, k->insn, at + 1, p->end)) {
		const uint8_t *code = code_bytes(k, at);
		struct suspect i = {.off = at, .avail = p->end - at};

		if (!b->isa->uses_frame(code, i.avail))
			continue;
		i.nuop = b->isa->lift(code, i.avail, code_address(k, at),
				      i.uop);
		look_up(q, at, set);
		if (is(q, &i))
			return true;
		look_up(q, at, set);
		set |= sets_fp(q, &i);
	}
	return false;
}

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

/* some instruction of the procedure is of the kind asked for */
static bool any_of_all(struct search *q,
		       bool (*is)(struct search *, const struct suspect *))
{
	const struct piece *piece = q->y->b->piece.at;

	for (uint32_t i = 0; i < q->y->npiece; i++)
		if (any_insn(q, &piece[q->y->piece[i]], is))
			return true;
	return false;
}

/* what gets out, gets out whatever the frame pointer is: that is asked first,
   since most often it is all there is to ask */
static bool find_escape(struct body *y)
{
	struct search q = {.y = y};

	if (any_of_all(&q, insn_lets_out) || any_call_twice(y))
		return true;
	q.fp_is_frame = any_of_all(&q, sets_fp);
	return q.fp_is_frame && any_of_all(&q, insn_lets_out);
}

bool body_frame_is_private(struct body *y)
{
	if (y->escapes == ESCAPES_NEW)
		y->escapes = find_escape(y) ? ESCAPES : ESCAPES_NOT;
	return y->escapes == ESCAPES_NOT;
}
