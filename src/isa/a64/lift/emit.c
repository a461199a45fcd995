/*
 * a64 emit: the micro-operations that every instruction is lifted from.
 */
#include "isa/a64/lift/lift.h"

struct uop *a64_put(struct lifter *l, unsigned code, unsigned dst, unsigned a,
		    unsigned b, uint64_t imm)
{
	if (a == UOP_IMM && b == UOP_IMM) {
		a64_put(l, UOP_COPY, UOP_TMP3, UOP_IMM, UOP_NONE, 0);
		a = UOP_TMP3;
	}
	l->out[l->n] = (struct uop){
		.code = (uint8_t)code,
		.width = (uint8_t)l->width,
		.dst = (uint8_t)dst,
		.a = (uint8_t)a,
		.b = (uint8_t)b,
		.imm = (int64_t)imm,
	};
	return &l->out[l->n++];
}

void a64_set(struct lifter *l, unsigned code, unsigned dst, unsigned a,
	     unsigned b, uint64_t imm)
{
	if (dst != UOP_NONE)
		a64_put(l, code, dst, a, b, imm);
}

void a64_copy(struct lifter *l, unsigned dst, unsigned a, uint64_t imm)
{
	a64_set(l, UOP_COPY, dst, a, UOP_NONE, imm);
}

void a64_extend(struct lifter *l, unsigned code, unsigned dst, unsigned a,
		unsigned bits)
{
	if (bits == l->width)
		a64_copy(l, dst, a, 0);
	else if (dst != UOP_NONE)
		a64_put(l, code, dst, a, UOP_NONE, 0)->size = (uint8_t)bits;
}

void a64_shift(struct lifter *l, unsigned code, unsigned dst, unsigned a,
	       unsigned n)
{
	if (n)
		a64_set(l, code, dst, a, UOP_IMM, n);
	else
		a64_copy(l, dst, a, 0);
}

void a64_other(struct lifter *l, unsigned dst)
{
	a64_put(l, UOP_OTHER, dst, UOP_NONE, UOP_NONE, 0)->width = 64;
}

void a64_store(struct lifter *l, unsigned a, unsigned b, unsigned bytes)
{
	struct uop *u = a64_put(l, UOP_STORE, UOP_NONE, a, b, 0);

	u->size = (uint8_t)bytes;
	u->width = 64;
}

void a64_generic_at(struct lifter *l, unsigned addr)
{
	const struct insn *in = l->in;

	l->width = 64;
	if (in->mem_write > UINT8_MAX)
		a64_put(l, UOP_CLOBBER, UOP_NONE, UOP_NONE, UOP_NONE, 0);
	else if (in->mem_write)
		a64_store(l, addr, UOP_NONE, in->mem_write);
	for (unsigned r = 0; r < 32; r++)
		if (in->writes >> r & 1)
			a64_other(l, r);
	if (in->flags_written)
		a64_other(l, UOP_FLAGS);
}

void a64_generic(struct lifter *l)
{
	a64_generic_at(l, UOP_NONE);
}
