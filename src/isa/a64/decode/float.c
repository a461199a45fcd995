/*
 * a64 float: which instructions on vector registers compute on, compare or
 * convert floating-point values, and which of them handle vectors of several
 * elements (struct insn's fp and packed).
 *
 * Both are told by the opcode field of the instruction's class, whatever its
 * sizes are. So nothing here is asked whether a word is an instruction, and an
 * answer about one that is none means nothing (simd.c and sve.c tell).
 *
 * Moves, also of floating-point constants, and selections do not compute.
 * urecpe and ursqrte, among the estimates, are of fixed-point numbers.
 */
#include "isa/a64/a64.h"

/* kinds of words with one source, in bits 20:19 */
enum { ONE_PLAIN, ONE_CRYPTO, ONE_ACROSS, ONE_HALF };

/*
 * one source    ... 1 kk 000 opcode 10 Rn Rd
 *
 * ONE_PLAIN: 12 to 15 are comparisons with zero, fabs and fneg, 22 and 23
 * change the precision, and from 24 on there are roundings, conversions,
 * estimates and square roots.
 */
static bool one_source_is_fp(uint32_t w)
{
	unsigned opcode = a64_bits(w, 16, 12);
	bool fixed_estimate = opcode == 28 && a64_bit(w, 23);

	switch (a64_bits(w, 20, 19)) {
	case ONE_PLAIN:
		return (opcode >> 2 == 3 || opcode >= 22) && !fixed_estimate;
	case ONE_ACROSS: /* fmaxnmv fmaxv, of pairs also faddp */
		return opcode >> 2 == 3;
	case ONE_HALF:
		return true;
	default:
		return false;
	}
}

/*
 * 0xxx 1110: all sources are registers, of vectors or of one lane
 *	three of one type       ... 1 Rm opcode 1        from 24 on
 *	complex and bfloat16    ... 0 Rm 1 opcode 1      opcode from 8 on
 *	half precision          x1 0 Rm 00 opcode 1      lane moves: 00 0
 */
static bool registers_are_fp(uint32_t w)
{
	if (a64_bit(w, 21) && !a64_bit(w, 10))
		return a64_bit(w, 11) && one_source_is_fp(w);
	if (!a64_bit(w, 10))
		return false;
	if (a64_bit(w, 21))
		return a64_bits(w, 15, 11) >= 24;
	return a64_bit(w, a64_bit(w, 15) ? 14 : 22);
}

/*
 * 0xxx 1111: by a lane, and by an immediate
 *	by a lane    ... size L M Rm opcode H 0 Rn Rd
 *	shifts       ... 0 immh immb opcode 1 Rn Rd      immh is not 0
 */
static bool by_lane_is_fp(uint32_t w)
{
	/* of U = 0: fmlal fmla fmlsl fmls fmul; else fcmla fmlal2 fmulx
	   fmlsl2 */
	static const uint16_t products[2] = {0x0233, 0x13aa};
	unsigned opcode = a64_bits(w, 15, 12), u = a64_bit(w, 29);

	if (a64_bit(w, 10)) /* scvtf ucvtf fcvtz, of fixed point */
		return a64_bits(w, 22, 19) && a64_bit(w, 15) &&
		       (a64_bits(w, 14, 11) == 12 || a64_bits(w, 14, 11) == 15);
	if (opcode == 15 && !u) /* sudot bfdot usdot bfmlal, by size */
		return a64_bit(w, 22);
	return products[u] >> opcode & 1;
}

/* 01x1 1110: reductions of pairs, and SHA, among what is of one lane */
static bool scalar_is_packed(uint32_t w)
{
	unsigned kind = a64_bits(w, 20, 19);

	if ((w & 0xdf000000) != 0x5e000000 || a64_bit(w, 10))
		return false;
	if (!a64_bit(w, 21))
		return true;
	return a64_bit(w, 11) && (kind == ONE_CRYPTO || kind == ONE_ACROSS);
}

/* movi of one element of 64 bits, d    0010 1111 0000 0... 1110 01 ... */
static bool is_scalar_movi(uint32_t w)
{
	return (w & 0xfff8fc00) == 0x2f00e400;
}

/* requires: w is of the SIMD group, and not a conversion (vector.c) */
void a64_simd_class(uint32_t w, struct insn *in)
{
	bool scalar = a64_bit(w, 28), crypto = w >> 31;

	in->packed = scalar ? scalar_is_packed(w) : !is_scalar_movi(w);
	if (w >> 24 == 0x1f) /* fmadd and its kin */
		in->fp = true;
	else if (!crypto)
		in->fp = a64_bit(w, 24) ? by_lane_is_fp(w)
					: registers_are_fp(w);
}

/*
 * SVE has a group for floating point, and elsewhere
 *	fabs fneg    0000 0100 size 0m 110 n 101 ...
 *	ftssel       0000 0100 size 1 Zm 1011 00 ...
 *	fexpa        0000 0100 size 1 00000 1011 10 ...
 */
bool a64_sve_is_fp(uint32_t w)
{
	return w >> 29 == 3 || (w & 0xff2ee000) == 0x040ca000 ||
	       (w & 0xff20fc00) == 0x0420b000 ||
	       (w & 0xff3ffc00) == 0x0420b800;
}
