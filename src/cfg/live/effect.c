/*
 * effect: what blocks read and write, from decoding every instruction once.
 *
 * A block's effect is that of its instructions in order:
 *
 *	reads  |= what the instruction reads & ~writes
 *	writes |= what it writes
 *
 * Returns get a second look. A return goes back to the caller only if the
 * return address is still the caller's; a block that stores to the stack or
 * loads another stack pointer right before its return may have made that
 * address itself (retpolines, setcontext, hand-written dispatch), and then
 * the return is a jump to an unknown place, which reads everything. So is
 * one for which the address of its own caller was dropped, if that is seen
 * in the block that was called (return thunks). Go's functions store results
 * in their callers' frames, so that is no sign there: such a return reads what
 * any caller in Go may read (places_go()).
 */
#include "cfg/live/live_int.h"

#include "base/parallel.h"
#include "isa/uop.h"

enum {
	EFFECT_LEAST_BLOCKS = 1 << 14, /* less is not worth a thread */
	CUT_BYTES = 256,
	CUT_LONG = 4 * CUT_BYTES, /* less is not worth a cut */
};

/* what one walk through a block keeps in mind */
struct walk {
	const struct isa *isa;
	regset frame; /* stack and frame pointer */
	bool diverted; /* a return would not go to the caller */
	bool entry;   /* the block begins right after a call */
	bool go;      /* it is Go's */
	int64_t up;   /* how far the stack pointer is above that */
};

/* i may have changed where a return goes */
static bool makes_return(const struct walk *w, const struct insn *i)
{
	regset sp = (regset)1 << w->isa->sp, link = w->isa->link;

	if (i->kind != INSN_SEQ && i->kind != INSN_UNKNOWN)
		return false;
	if (link)
		return i->writes & link && !(i->reads & (w->frame | link));
	if (i->mem_write && i->reads & sp)
		return true;
	return i->writes & sp && !(i->reads & w->frame);
}

/* by how much an instruction raises the stack pointer, if that is known */
static int64_t raises(const struct isa *isa, const uint8_t *code, size_t avail,
		      uint64_t addr)
{
	struct uop u[UOP_MAX];
	unsigned n = isa->lift(code, avail, addr, u);
	int64_t up = 0;

	for (unsigned i = 0; i < n; i++)
		if (u[i].dst == isa->sp && u[i].a == isa->sp &&
		    u[i].b == UOP_IMM)
			up += u[i].code == UOP_ADD ? u[i].imm :
			      u[i].code == UOP_SUB ? -u[i].imm : 0;
	return up;
}

/* has the block taken more from the stack than it put there? */
static bool drops_return(struct walk *w, const uint8_t *code, size_t avail,
			 const struct insn *i)
{
	if (!w->entry || w->isa->link || i->kind != INSN_SEQ ||
	    !(i->writes >> w->isa->sp & 1))
		return false;
	w->up += raises(w->isa, code, avail, i->addr);
	return w->up > 0;
}

/* a return that does not go where the caller wants to have it */
static bool is_diverted_return(const struct walk *w, const struct insn *i)
{
	return i->kind == INSN_RET &&
	       (w->diverted || (w->isa->link && !(i->reads & w->isa->link)));
}

/* adds instruction i to what is known of the block */
static void effect_add(struct effect *f, const struct walk *w,
		       const struct insn *i)
{
	places reads = places_seen(i->reads, i->flags_read);

	/* the kernel copies them into a register that no Go code looks at */
	if (w->go && i->kind == INSN_SYSCALL)
		reads = places_seen(i->reads, 0);
	if (i->kind == INSN_BAD || i->kind == INSN_UNKNOWN ||
	    is_diverted_return(w, i))
		reads |= w->go ? places_go(w->isa) : places_unknown(w->isa);
	f->reads |= reads & ~f->writes;
	f->writes |= places_any(i->writes, i->flags_written);
}

/* registers that i stores into the frame, or loads from there */
static void saves_add(struct saves *s, const struct walk *w,
		      const struct insn *i)
{
	bool frame = i->reads & w->frame;

	if (frame && i->mem_write)
		s->saved |= i->reads & ~s->computed;
	if (frame && i->mem_read)
		s->restored |= i->writes;
	else
		s->computed |= i->writes;
}

struct effect effect_from(const struct cfg *c, const struct block *k,
			  uint64_t addr, struct saves *s)
{
	struct walk w = {.isa = c->isa, .frame = (regset)1 << c->isa->sp |
						 (regset)1 << c->isa->fp,
			 .entry = k->flags & BLOCK_ENTRY,
			 .go = cfg_is_go(c, k->start)};
	struct effect f = {0};
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn i;

	/* what is before it matters to a return alone */
	for (uint32_t at = s || k->last == INSN_RET ?
				   0 : (uint32_t)(addr - k->start);
	     at < k->size; at += i.len) {
		size_t left = at < avail ? avail - at : 0;

		c->isa->decode(code + at, left, k->start + at, &i);
		if (s)
			saves_add(s, &w, &i);
		if (k->start + at >= addr)
			effect_add(&f, &w, &i);
		if (i.kind == INSN_BAD)
			break;
		w.diverted |= makes_return(&w, &i);
		w.diverted |= drops_return(&w, code + at, left, &i);
	}
	return f;
}

struct effect effect_between(const struct cfg *c, const struct block *k,
			     uint64_t from, uint64_t to)
{
	const struct walk w = {.isa = c->isa};
	struct effect f = {0};
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn i;

	for (uint64_t at = from; at < to; at += i.len) {
		size_t skip = (size_t)(at - k->start);

		c->isa->decode(code + skip, avail > skip ? avail - skip : 0,
			       at, &i);
		effect_add(&f, &w, &i);
		if (i.kind == INSN_BAD)
			break;
	}
	return f;
}

typedef VEC(struct effect_cut) effect_list;

/* places in block b, one in CUT_BYTES, and its last instruction */
static void cut_block(effect_list *s, const struct cfg *c, uint32_t b)
{
	const struct block *k = &c->block.at[b];
	struct effect_cut new = {.block = b, .addr = k->start};
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn i = {0};

	for (uint32_t at = 0; at < k->size && at < avail; at += i.len) {
		c->isa->scan(code + at, avail - at, k->start + at, &i);
		if (i.kind == INSN_BAD)
			break;
		if (k->start + at - new.addr < CUT_BYTES &&
		    at + i.len < k->size)
			continue;
		new.addr = k->start + at;
		vec_push(s, new);
	}
}

struct effect_cut *effect_cuts(const struct cfg *c, size_t *n)
{
	effect_list s = {0};

	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].size > CUT_LONG)
			cut_block(&s, c, b);
	for (size_t i = s.n; i-- > 0;) {
		struct effect_cut *x = &s.at[i];
		const struct block *k = &c->block.at[x->block];

		x->rest = i + 1 == s.n || x[1].block != x->block ?
				  effect_from(c, k, x->addr, NULL) :
				  effect_join(effect_between(c, k, x->addr,
							     x[1].addr),
					      x[1].rest);
	}
	*n = s.n;
	return s.at;
}

/* what effect_all() fills */
struct all {
	const struct cfg *c;
	struct effect *effect;
	struct saves *saves;
};

/* parallel_for(): of these blocks */
static void fill_blocks(void *arg, size_t from, size_t end)
{
	const struct all *a = arg;

	for (size_t b = from; b < end; b++) {
		const struct block *k = &a->c->block.at[b];

		a->effect[b] = effect_from(a->c, k, k->start, &a->saves[b]);
	}
}

void effect_all(const struct cfg *c, struct effect *effect,
		struct saves *saves)
{
	struct all a = {c, effect, saves};

	parallel_for(fill_blocks, &a, c->block.n, EFFECT_LEAST_BLOCKS);
}
