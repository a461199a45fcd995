/*
 * a64 lift: what the files of the lifter share. Each appends uops to a list
 * by the functions below; the instruction is known to decode().
 *
 * Temporaries: TMP0 and TMP1 hold addresses and second operands, TMP2 a value
 * loaded and not yet extended, TMP3 zero where two operands would be constant.
 */
#ifndef ISA_A64_LIFT_LIFT_H
#define ISA_A64_LIFT_LIFT_H

#include "isa/a64/a64.h"
#include "isa/uop.h"

struct lifter {
	uint32_t w;
	const struct insn *in;
	struct uop *out;
	unsigned n;
	unsigned width; /* by sf, bit 31 */
};

/*
 * Register fields as operands: where 31 is the stack pointer, the number is
 * the operand; where it is zero, as a source it is the constant 0, and as a
 * destination nowhere.
 */
static inline unsigned a64_src(unsigned r)
{
	return r == 31 ? UOP_IMM : r;
}

static inline unsigned a64_dst(unsigned r)
{
	return r == 31 ? UOP_NONE : r;
}

/* --- emit.c */
/*
 * Append a uop. A constant `a` is the zero register; if `b` is constant too,
 * imm is b's.
 */
struct uop *a64_put(struct lifter *l, unsigned code, unsigned dst, unsigned a,
		    unsigned b, uint64_t imm);
/* append dst = a op b, unless dst is the zero register */
void a64_set(struct lifter *l, unsigned code, unsigned dst, unsigned a,
	     unsigned b, uint64_t imm);
/* append dst = a, or the constant imm */
void a64_copy(struct lifter *l, unsigned dst, unsigned a, uint64_t imm);
/* append dst = the low `bits` of a, extended by `code` to l->width */
void a64_extend(struct lifter *l, unsigned code, unsigned dst, unsigned a,
		unsigned bits);
/* append dst = a shifted by n, or a copy if n is 0 */
void a64_shift(struct lifter *l, unsigned code, unsigned dst, unsigned a,
	       unsigned n);
/* append: dst becomes something unknown */
void a64_other(struct lifter *l, unsigned dst);
/* append a store of `bytes` of b at the address in a */
void a64_store(struct lifter *l, unsigned a, unsigned b, unsigned bytes);
/* append what decode() says; stores go to address `addr`, or anywhere */
void a64_generic_at(struct lifter *l, unsigned addr);
void a64_generic(struct lifter *l);

/* --- lift_data.c, lift_memory.c */
/* append Rm, extended as `option` says and shifted left; returns the operand */
unsigned a64_extended(struct lifter *l, unsigned option, unsigned n);

void a64_lift_data_imm(struct lifter *l);
void a64_lift_data_reg(struct lifter *l);
void a64_lift_memory(struct lifter *l);

#endif
