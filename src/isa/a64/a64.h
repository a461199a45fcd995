/*
 * a64: what the files of the AArch64 decoder share.
 *
 * A word is decoded by the function of its group. Bits 28:25 name the group
 * in the architecture's own index of encodings; we look at bits 29:23 at once,
 * which tell the groups' main parts apart too, so that one indirect call is
 * all that most words cost (the table is in decode.c):
 *
 *	31   28   25  23                             0
 *	 x x x . . . . x x x x x x x x x x x x x x x x
 *	       0 0 0 0   reserved (udf), SME             decode.c, sve.c
 *	       0 0 1 0   SVE                             sve.c
 *	       1 0 0 x   data processing, immediate      data.c
 *	       1 0 1 x   branches, exceptions, system    branch.c
 *	       x 1 x 0   loads and stores                memory.c
 *	       x 1 0 1   data processing, register       data.c
 *	       x 1 1 1   floating point, SIMD            vector.c, simd.c
 *
 * Each function gets a struct insn that is a sequential instruction without
 * effects, adds what the word does, and returns false if it does not know the
 * word; a64_decode() then answers INSN_UNKNOWN. A word is known only if all
 * that it does to general registers, flags and memory is known.
 *
 * Register fields mean two things by number 31: the stack pointer or zero.
 * a64_x() and a64_xsp() tell them apart, and zero is never in a register set.
 */
#ifndef ISA_A64_A64_H
#define ISA_A64_A64_H

#include "isa/isa.h"

enum {
	A64_FP = 29,
	A64_LR = 30,
	A64_SP = 31, /* in sets and uops; in register fields also zero */
	A64_NZCV = FLAG_N | FLAG_Z | FLAG_C | FLAG_V,
	A64_ALWAYS = 14, /* the conditions AL and NV: always true */
};

/* the word at code, least significant byte first */
static inline uint32_t a64_word(const uint8_t *code)
{
	return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

/* bits hi..lo of w */
static inline uint32_t a64_bits(uint32_t w, unsigned hi, unsigned lo)
{
	return w >> lo & (UINT32_MAX >> (31 - (hi - lo)));
}

/* bit n of w */
static inline bool a64_bit(uint32_t w, unsigned n)
{
	return w >> n & 1;
}

/* bits hi..lo of w as a signed number */
static inline int64_t a64_sbits(uint32_t w, unsigned hi, unsigned lo)
{
	int64_t sign = (int64_t)1 << (hi - lo);

	return ((int64_t)a64_bits(w, hi, lo) ^ sign) - sign;
}

/* the register fields, by their places; rs and ra share others' places */
static inline unsigned a64_rd(uint32_t w)
{
	return w & 31;
}

static inline unsigned a64_rn(uint32_t w)
{
	return w >> 5 & 31;
}

static inline unsigned a64_ra(uint32_t w)
{
	return w >> 10 & 31;
}

static inline unsigned a64_rm(uint32_t w)
{
	return w >> 16 & 31;
}

/* the set of register r, where 31 is the zero register */
static inline regset a64_x(unsigned r)
{
	return (UINT32_C(1) << r) & ~(UINT32_C(1) << A64_SP);
}

/* the set of register r, where 31 is the stack pointer */
static inline regset a64_xsp(unsigned r)
{
	return UINT32_C(1) << r;
}

/* the flags that a 4-bit condition field looks at */
uint8_t a64_cond_flags(unsigned cond);
/* a 4-bit condition field as enum insn_cond */
uint8_t a64_cond(unsigned cond);
/* value of a logical immediate, 0 if it is reserved (no value is 0) */
uint64_t a64_logical_imm(bool n, unsigned imms, unsigned immr, bool is64);
/* is w, of the SIMD group and on vector registers alone, an instruction? */
bool a64_simd_allocated(uint32_t w);
/* fills fp and packed of a word of the SIMD group, but for conversions */
void a64_simd_class(uint32_t w, struct insn *in);
/* does w, of SVE, compute on floating-point values? */
bool a64_sve_is_fp(uint32_t w);
/* bytes of each register that a scalar SIMD load or store moves */
unsigned a64_simd_bytes(uint32_t w);

/* the functions of the groups, by file; what each decodes stands there */
typedef bool a64_group(uint32_t w, struct insn *in);
a64_group a64_branch, a64_branch_compare;
a64_group a64_pcrel, a64_add_imm, a64_tag_minmax_imm, a64_logic_imm,
	a64_move_wide, a64_bitfield, a64_extract;
a64_group a64_logic_reg, a64_add_reg, a64_three_sources, a64_data_misc;
a64_group a64_exclusive, a64_simd_structures, a64_literal, a64_memory_misc,
	a64_pair, a64_offset, a64_register;
a64_group a64_vector, a64_sve, a64_sme;

/* are the addresses of w, a load or store of SVE, in a vector register? */
bool a64_sve_vector_base(uint32_t w);

void a64_decode(const uint8_t *code, size_t avail, uint64_t addr,
		struct insn *out);
unsigned a64_accesses(const uint8_t *code, size_t avail, uint64_t addr,
		      struct access *out);
unsigned a64_lift(const uint8_t *code, size_t avail, uint64_t addr,
		  struct uop *out);
unsigned a64_lift_scanned(const uint8_t *code, size_t avail, uint64_t addr,
			  struct insn *scanned, struct uop *out);
#endif
