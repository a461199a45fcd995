/*
 * frames: see frames.h. A forward data flow: what registers are, relative to
 * the stack pointer at the entry.
 */
#include "trace/place/frames.h"

#include <string.h>

#include "isa/uop.h"

/* what a register holds */
enum what {
	IS_UNSEEN, /* no way there was looked at yet */
	IS_STACK,  /* the stack pointer at the entry, and `off` */
	IS_ALIGNED, /* the same with `before` for `off`, rounded down to a
		       multiple of 1 << align, and `off` */
	IS_RETURN, /* the return address of the procedure */
	IS_OTHER,
};

struct content {
	uint8_t what, align;
	int64_t off, before;
};

struct state {
	struct content reg[UOP_NREGS];
	struct content slot; /* where the return address is, on the stack:
				IS_STACK; else it is not there */
	bool seen;
};

struct flow {
	const struct cfg *c;
	const struct isa *isa;
	struct frames *f;
	struct state *in; /* by block, as frames.at */
	VEC(uint32_t) todo;
	bool *waits;
};

static const struct content other = {.what = IS_OTHER};

static bool same(struct content a, struct content b)
{
	return a.what == b.what && a.off == b.off && a.align == b.align &&
	       a.before == b.before;
}

/* the block's number among those of the procedure */
static uint32_t number(const struct frames *f, uint32_t block)
{
	uint32_t n = 0, part = f->c->block.at[block].part;

	for (uint32_t i = f->p->part;; i++) {
		uint32_t k = f->c->proc_part.at[i];

		if (k == part)
			return n + block - f->c->part.at[k].block;
		n += f->c->part.at[k].nblock;
	}
}

const struct frame_at *frames_at(const struct frames *f, uint32_t block)
{
	return &f->at[number(f, block)];
}

/* --- one instruction */

static struct content operand(const struct state *s, uint8_t r)
{
	return r < UOP_NREGS ? s->reg[r] : other;
}

/* does an access of `size` bytes there meet the return address? */
static bool meets(const struct state *s, struct content at, unsigned size)
{
	return s->slot.what == IS_STACK && at.what == IS_STACK &&
	       at.off < s->slot.off + 8 &&
	       s->slot.off < at.off + (int64_t)size;
}

static void store(struct state *s, const struct uop *u)
{
	struct content at = operand(s, u->a), is = operand(s, u->b);

	if (at.what == IS_STACK && is.what == IS_RETURN && u->size == 8)
		s->slot = at;
	else if (meets(s, at, u->size))
		s->slot = other;
}

static struct content load(const struct state *s, const struct uop *u)
{
	struct content at = operand(s, u->a);

	return u->size == 8 && at.what == IS_STACK && same(at, s->slot) ?
		       (struct content){.what = IS_RETURN} : other;
}

/* a = b + constant */
static struct content sum(const struct state *s, const struct uop *u)
{
	struct content is = operand(s, u->a);
	int64_t by = u->code == UOP_SUB ? -u->imm : u->imm;

	if (u->width != 64 || u->b != UOP_IMM ||
	    (is.what != IS_STACK && is.what != IS_ALIGNED))
		return other;
	is.off += by;
	return is;
}

/* a = b & constant */
static struct content aligned(const struct state *s, const struct uop *u)
{
	struct content is = operand(s, u->a);
	uint64_t mask = (uint64_t)u->imm;

	/* all ones, then some zeroes */
	if (u->width != 64 || u->b != UOP_IMM || is.what != IS_STACK ||
	    mask & 1 || ~mask & (~mask + 1))
		return other;
	return (struct content){
		.what = IS_ALIGNED,
		.align = (uint8_t)__builtin_ctzll(mask),
		.before = is.off,
	};
}

static void step(struct state *s, const struct uop *u)
{
	struct content is = other;

	switch (u->code) {
	case UOP_STORE:
		store(s, u);
		return;
	case UOP_CLOBBER:
	case UOP_BRANCH:
	case UOP_JUMP:
		return;
	case UOP_COPY:
		if (u->a != UOP_IMM && u->width == 64)
			is = operand(s, u->a);
		break;
	case UOP_ADD:
	case UOP_SUB:
		is = sum(s, u);
		break;
	case UOP_AND:
		is = aligned(s, u);
		break;
	case UOP_LOAD:
		is = load(s, u);
		break;
	}
	if (u->dst < UOP_NREGS)
		s->reg[u->dst] = is;
}

/* an instruction that is not understood, or a call behind which the program
   goes on */
static void forget(const struct flow *x, struct state *s, regset kept)
{
	for (unsigned r = 0; r < UOP_NREGS; r++)
		if (r >= x->isa->nregs || !(kept >> r & 1))
			s->reg[r] = other;
}

static void run_insn(const struct flow *x, struct state *s,
		     const uint8_t *code, size_t avail, uint64_t at,
		     struct insn *in)
{
	struct uop u[UOP_MAX];
	unsigned n;

	/* signed and authenticated again it is the same; else it faults */
	if (x->isa->signs_link && x->isa->signs_link(code, avail))
		return;
	n = x->isa->lift_scanned(code, avail, at, in, u);
	if (in->kind == INSN_BAD || in->kind == INSN_UNKNOWN) {
		forget(x, s, 0);
		s->slot = other;
		return;
	}
	for (unsigned i = 0; i < n; i++)
		step(s, &u[i]);
}

/* --- blocks */

static struct frame_sp sp_of(const struct flow *x, const struct state *s)
{
	struct content sp = s->reg[x->isa->sp];

	return (struct frame_sp){
		.known = sp.what == IS_STACK || sp.what == IS_ALIGNED,
		.align = sp.align,
		.before = sp.before,
		.off = sp.off,
	};
}

static void look_at_end(const struct flow *x, uint32_t b,
			const struct state *s, const struct insn *in)
{
	struct frame_at *f = &x->f->at[number(x->f, b)];
	struct content sp = s->reg[x->isa->sp];

	f->last = sp_of(x, s);
	f->returns = in->kind == INSN_RET && sp.what == IS_STACK && !sp.off &&
		     (x->isa->link ? in->reads & x->isa->link &&
				     s->reg[__builtin_ctz(x->isa->link)].what ==
					     IS_RETURN
				   : s->slot.what == IS_STACK && !s->slot.off);
}

/* what holds behind the block; before its last instruction frame_at is told */
static void run_block(const struct flow *x, uint32_t b, struct state *s)
{
	const struct block *k = &x->c->block.at[b];
	uint64_t at = k->start, end = block_end(k);
	struct insn in;
	size_t avail;

	while (at < end) {
		const uint8_t *code = image_at(x->c->image, at, &avail);

		x->isa->decode(code, avail, at, &in);
		if (!in.len || at + in.len >= end)
			look_at_end(x, b, s, &in);
		if (!in.len)
			break;
		run_insn(x, s, code, avail, at, &in);
		at += in.len;
	}
	if (k->last == INSN_CALL || k->last == INSN_ICALL)
		forget(x, s, x->isa->callee_saved |
				     (regset)1 << x->isa->sp |
				     (regset)1 << x->isa->fp);
}

static bool join(struct content *to, struct content from)
{
	struct content is = to->what == IS_UNSEEN ? from :
			    same(*to, from) ? *to : other;
	bool changed = !same(is, *to);

	*to = is;
	return changed;
}

static void arrive(struct flow *x, uint32_t b, const struct state *s)
{
	uint32_t n = number(x->f, b);
	struct state *to = &x->in[n];
	bool changed = !to->seen;

	to->seen = true;
	for (unsigned r = 0; r < x->isa->nregs; r++)
		changed |= join(&to->reg[r], s->reg[r]);
	changed |= join(&to->slot, s->slot);
	if (changed && !x->waits[n]) {
		x->waits[n] = true;
		vec_push(&x->todo, b);
	}
}

static void leave_hub(struct flow *x, uint32_t hub, const struct state *s)
{
	const struct hub *h = &x->c->hub.at[hub];

	for (uint32_t i = h->target; i < h->target + h->ntarget; i++)
		arrive(x, x->c->hub_target.at[i], s);
}

static void leave(struct flow *x, uint32_t b, const struct state *s)
{
	for (uint32_t i = x->c->block.at[b].edge; i < cfg_edges_end(x->c, b);
	     i++) {
		const struct edge *e = &x->c->edge.at[i];

		if (e->kind == EDGE_HUB)
			leave_hub(x, e->to, s);
		else if (e->kind < EDGE_HUB)
			arrive(x, e->to, s);
	}
}

static struct state at_entry(const struct flow *x)
{
	struct state s;

	for (unsigned r = 0; r < UOP_NREGS; r++)
		s.reg[r] = other;
	s.reg[x->isa->sp] = (struct content){.what = IS_STACK};
	s.slot = other;
	if (x->isa->link)
		s.reg[__builtin_ctz(x->isa->link)] =
			(struct content){.what = IS_RETURN};
	else
		s.slot = (struct content){.what = IS_STACK};
	s.seen = true;
	return s;
}

static bool is_entry(const struct flow *x, uint32_t b)
{
	const struct block *k = &x->c->block.at[b];

	return k->start == x->f->p->entry ||
	       (k->flags & BLOCK_ENTRY && !(k->flags & BLOCK_PAD));
}

void frames_find(struct frames *f, const struct cfg *c, uint32_t proc)
{
	const struct procedure *p = &c->proc.at[proc];
	struct flow x = {.c = c, .isa = c->isa, .f = f};
	struct state s;

	*f = (struct frames){.c = c, .p = p};
	for (uint32_t i = p->part; i < p->part + p->npart; i++)
		f->n += c->part.at[c->proc_part.at[i]].nblock;
	f->at = NEW_ARRAY(struct frame_at, f->n + 1);
	x.in = NEW_ARRAY(struct state, f->n + 1);
	x.waits = NEW_ARRAY(bool, f->n + 1);
	s = at_entry(&x);
	for (uint32_t i = p->part; i < p->part + p->npart; i++) {
		const struct part *t = &c->part.at[c->proc_part.at[i]];

		for (uint32_t b = t->block; b < t->block + t->nblock; b++)
			if (is_entry(&x, b))
				arrive(&x, b, &s);
	}
	while (x.todo.n) {
		uint32_t b = x.todo.at[--x.todo.n];

		x.waits[number(f, b)] = false;
		s = x.in[number(f, b)];
		run_block(&x, b, &s);
		leave(&x, b, &s);
	}
	for (uint32_t i = 0; i < f->n; i++)
		f->at[i].first = sp_of(&x, &x.in[i]);
	vec_free(&x.todo);
	mem_free(x.in);
	mem_free(x.waits);
}

void frames_free(struct frames *f)
{
	mem_free(f->at);
}
