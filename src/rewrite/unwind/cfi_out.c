/* cfi_out: see cfi_out.h. */
#include "rewrite/unwind/cfi_out.h"

#include <stdlib.h>

#include "isa/isa.h"
#include "rewrite/unwind/expression.h"

/* writes how far it is to the new address; false if it cannot be written */
static bool put_advance(struct cfi_out *o, uint64_t to)
{
	uint64_t align = o->run.cie.code_align, n;

	if (to == o->at)
		return true;
	if (to < o->at || !align || (to - o->at) % align)
		return false;
	n = (to - o->at) / align;
	o->at = to;
	if (n < 64) {
		buffer_uint(o->out, 1, CFA_ADVANCE_LOC | n);
	} else if (n <= UINT8_MAX) {
		buffer_uint(o->out, 1, CFA_ADVANCE_LOC1);
		buffer_uint(o->out, 1, n);
	} else if (n <= UINT16_MAX) {
		buffer_uint(o->out, 1, CFA_ADVANCE_LOC2);
		buffer_uint(o->out, 2, n);
	} else {
		buffer_uint(o->out, 1, CFA_ADVANCE_LOC4);
		buffer_uint(o->out, 4, n);
	}
	return n <= UINT32_MAX;
}

/* from the new address on, the state is another */
static bool put_change(struct cfi_out *o, uint64_t at,
		       const struct cfi_state *from,
		       const struct cfi_state *to)
{
	o->change.n = 0;
	cfi_difference(&o->change, from, to, &o->run.initial);
	if (!o->change.n)
		return true;
	if (!put_advance(o, at < o->at ? o->at : at))
		return false;
	vec_append(o->out, &o->change);
	return true;
}

/* appends a block of the pushed state to o->block; returns its length */
static size_t lower_block(struct cfi_out *o, const uint8_t *p, size_t n,
			  uint32_t down)
{
	const struct isa *isa = isa_for_elf(o->im->machine);
	size_t start = o->block.n;

	expression_lower(&o->block, bytes_window(p, n, 0), isa->dwarf_sp,
			 down);
	return o->block.n - start;
}

/* o->pushed becomes the current state with a lower stack pointer */
static void make_pushed(struct cfi_out *o, uint32_t down)
{
	const struct isa *isa = isa_for_elf(o->im->machine);
	struct cfi_state *s = &o->pushed;
	const uint8_t *p;

	cfi_state_copy(s, &o->run.now);
	o->block.n = 0;
	if (s->block)
		s->block_size = lower_block(o, s->block, s->block_size, down);
	else if (s->reg == isa->dwarf_sp)
		s->offset += down;
	for (unsigned i = 0; i < s->n; i++)
		if (s->rule[i].block)
			s->rule[i].value = lower_block(o, s->rule[i].block,
						       s->rule[i].value, down);
	/* now that all are there and none moves any more */
	p = o->block.at;
	if (s->block) {
		s->block = p;
		p += s->block_size;
	}
	for (unsigned i = 0; i < s->n; i++)
		if (s->rule[i].block) {
			s->rule[i].block = p;
			p += s->rule[i].value;
		}
}

/* writes the rows of the next push, which begins before `to` */
static bool put_push(struct cfi_out *o, uint64_t to)
{
	const struct push *p = o->push++;
	uint64_t end = p->end < to ? p->end : to;

	if (p->start >= end)
		return true;
	make_pushed(o, p->bytes);
	return put_change(o, p->start, &o->run.now, &o->pushed) &&
	       put_change(o, end, &o->pushed, &o->run.now);
}

/* what follows is about the new address `to` */
static bool go_to(struct cfi_out *o, uint64_t to)
{
	while (o->push < o->push_end && o->push->start < to)
		if (!put_push(o, to))
			return false;
	o->want = to;
	return true;
}

/* writes the instruction that was just run */
static bool put_insn(struct cfi_out *o)
{
	const struct cfa_insn *i = &o->run.insn;

	if (i->op == CFA_NOP)
		return true;
	if (!put_advance(o, o->want))
		return false;
	buffer_bytes(o->out, i->p, i->size);
	return true;
}

/* writes all of the FDE's own instructions */
static bool put_body(struct cfi_out *o, const struct place *p)
{
	while (cfi_more(&o->run)) {
		if (!cfi_step(&o->run))
			return false;
		if (!cfa_insn_moves(&o->run.insn)) {
			if (!put_insn(o))
				return false;
		} else if (!go_to(o,
				  p ? place_entry(p, o->run.at) : o->run.at)) {
			return false;
		}
	}
	return true;
}

/* by address */
static int like_compare(const void *a, const void *b)
{
	const struct cfi_like *p = a, *q = b;

	if (p->old != q->old)
		return p->old < q->old ? -1 : 1;
	return (p->stub > q->stub) - (p->stub < q->stub);
}

/* by stub */
static int stub_compare(const void *a, const void *b)
{
	const struct cfi_like *p = a, *q = b;

	return (p->stub > q->stub) - (p->stub < q->stub);
}

/* what a state means is the same for o->run and o->probe */
static bool same_cie(struct cfi_out *o)
{
	const struct cfi *c = &o->run, *d = &o->probe;

	if (c->cie.addr == d->cie.addr)
		return true;
	o->change.n = 0;
	cfi_difference(&o->change, &c->initial, &d->initial, &c->initial);
	return !o->change.n && c->cie.data_align == d->cie.data_align &&
	       c->cie.return_reg == d->cie.return_reg;
}

/*
 * Finds the states at like[from .. to-1], all in f, by running f once: the
 * state at an address is the one when the instructions go on to a later one.
 * Where that fails the stub keeps what was before it: no call returns there,
 * only a signal could see it.
 */
static void find_states(struct cfi_out *o, const struct fde *f, size_t from,
			size_t to)
{
	struct cfi *c = &o->probe;
	bool changed = true;

	if (!cfi_open_part(c, o->im, f, o->like.at[from].old,
			   o->like.at[to - 1].old + 1) ||
	    !same_cie(o))
		return;
	for (size_t i = from; i < to; i++) {
		while (cfi_more(c) && c->at <= o->like.at[i].old) {
			if (!cfi_step(c))
				return;
			changed |= !cfa_insn_moves(&c->insn);
		}
		if (changed) {
			vec_reserve(&o->state, 1);
			cfi_state_copy(&o->state.at[o->state.n++], &c->now);
		}
		changed = false;
		o->like.at[i].state = (uint32_t)o->state.n - 1;
	}
}

/* the FDE that tells of an address, the part's own one first */
static const struct fde *fde_at(const struct cfi_out *o, const struct fde *own,
				uint64_t addr)
{
	if (addr >= own->start && addr < own->end)
		return own;
	return unwind_find(o->unwind, addr);
}

/* finds the state of every stub of the part */
static void find_likes(struct cfi_out *o, const struct fde *own,
		       const struct moved *mv)
{
	size_t n = mv->nstub;

	o->like.n = o->state.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct cfi_like l = {o->moves->stub.at[mv->stub + i].like, i,
				     UINT32_MAX};

		vec_push(&o->like, l);
	}
	qsort(o->like.at, n, sizeof *o->like.at, like_compare);
	for (size_t i = 0, end; i < n; i = end) {
		const struct fde *f = fde_at(o, own, o->like.at[i].old);

		for (end = i + 1; end < n; end++)
			if (fde_at(o, own, o->like.at[end].old) != f)
				break;
		if (f)
			find_states(o, f, i, end);
	}
	qsort(o->like.at, n, sizeof *o->like.at, stub_compare);
}

/* writes the rows of the stubs */
static bool put_stubs(struct cfi_out *o, const struct fde *f,
		      const struct moved *mv)
{
	find_likes(o, f, mv);
	for (uint32_t i = 0; i < mv->nstub; i++) {
		uint32_t state = o->like.at[i].state;

		if (!go_to(o, o->moves->stub.at[mv->stub + i].start))
			return false;
		if (state == UINT32_MAX)
			continue;
		if (!put_change(o, o->want, &o->run.now, &o->state.at[state]))
			return false;
		cfi_state_copy(&o->run.now, &o->state.at[state]);
	}
	return true;
}

bool cfi_write(struct cfi_out *o, buffer *out, const struct fde *f,
	       const struct place *p)
{
	const struct moved *mv = p ? p->moved : NULL;

	o->out = out;
	o->push = o->push_end = NULL;
	o->at = o->want = mv ? mv->start : f->start;
	if (mv && mv->npush) {
		o->push = o->moves->push.at + mv->push;
		o->push_end = o->push + mv->npush;
	}
	if (mv ? !cfi_open_part(&o->run, o->im, f, mv->old_start,
				mv->old_end) : !cfi_open(&o->run, o->im, f))
		return false;
	if (!put_body(o, p))
		return false;
	if (!mv)
		return true;
	if (!go_to(o, mv->body_end))
		return false;
	if (mv->nstub && !put_stubs(o, f, mv))
		return false;
	return go_to(o, mv->end);
}

void cfi_out_free(struct cfi_out *o)
{
	cfi_free(&o->run);
	cfi_free(&o->probe);
	vec_free(&o->like);
	vec_free(&o->state);
	vec_free(&o->block);
	vec_free(&o->change);
}

/* bytes of code that rows are made for: stubs that stay together are few */
enum { PLAIN_MAX = 4096 };

/* finds the expression, the last thing that is said, and where it begins */
static bool find_last(struct cfi *c, struct cfa_insn *last, uint64_t *at)
{
	bool found = false;

	while (cfi_more(c)) {
		if (!cfi_step(c) || (found && c->insn.op != CFA_NOP))
			return false;
		if (c->insn.op == CFA_DEF_CFA_EXPRESSION) {
			*last = c->insn;
			*at = c->at;
			found = true;
		} else if (c->insn.block.p) {
			return false;
		}
	}
	return found;
}

/* appends what the CFA is from `at` on; *now is where the rows have come to */
static bool put_row(struct cfi *c, uint64_t *now, uint64_t at, int64_t offset)
{
	uint64_t n = at - *now;

	if (offset < 0 || !c->cie.code_align || n % c->cie.code_align)
		return false;
	buffer_uint(&c->plain, 1, CFA_ADVANCE_LOC4);
	buffer_uint(&c->plain, 4, n / c->cie.code_align);
	buffer_uint(&c->plain, 1, CFA_DEF_CFA);
	buffer_uleb(&c->plain, isa_for_elf(c->im->machine)->dwarf_sp);
	buffer_uleb(&c->plain, (uint64_t)offset);
	*now = at;
	return true;
}

/* appends what an expression, which holds from `at` on, says of [from, end) */
static bool put_rows(struct cfi *c, const struct cfa_insn *i, uint64_t at,
		     uint64_t from, uint64_t end)
{
	uint64_t sp = isa_for_elf(c->im->machine)->dwarf_sp, now = at;
	int64_t offset, before = -1;

	if (from < at)
		from = at;
	if (end > from && end - from > PLAIN_MAX)
		return false;
	for (; from < end; from++, before = offset)
		if (!expression_offset(i->block, sp, c->cie.return_reg, from,
				       &offset) ||
		    (offset != before && !put_row(c, &now, from, offset)))
			return false;
	return true;
}

/* may there be one? Most have none, and are not looked at twice */
static bool has_expression(const struct cfi *c)
{
	return cfi_more(c) && memchr(c->program.p + c->program.at,
				     CFA_DEF_CFA_EXPRESSION,
				     bytes_left(&c->program));
}

/* c->plain becomes the instructions without the expression */
static bool make_plain(struct cfi *c, uint64_t from, uint64_t end)
{
	const uint8_t *p = c->program.p + c->program.at;
	struct cfa_insn last;
	uint64_t at;

	if (!find_last(c, &last, &at))
		return false;
	c->plain.n = 0;
	buffer_bytes(&c->plain, p, (size_t)(last.p - p));
	return put_rows(c, &last, at, from, end);
}

bool cfi_open_part(struct cfi *c, const struct image *im, const struct fde *f,
		   uint64_t from, uint64_t end)
{
	uint64_t addr;
	bool plain;

	if (!cfi_open(c, im, f))
		return false;
	if (from >= end || !has_expression(c))
		return true;
	addr = bytes_addr(&c->program);
	plain = make_plain(c, from, end);
	if (!cfi_open(c, im, f))
		return false;
	/* at the same address: pointers in it are relative to where they are */
	if (plain)
		c->program = bytes_window(c->plain.at, c->plain.n, addr);
	return true;
}
