/*
 * a64 vector: floating point and Advanced SIMD.
 *
 * Only the few classes that also touch general registers or flags are
 * decoded: conversions and moves, lane moves, comparisons and selects. All
 * other words of this group work on vector registers alone; simd.c tells
 * which of them are instructions, and float.c what they are about.
 */
#include "isa/a64/a64.h"

/*
 * fcvt* scvtf ucvtf fmov, integer    sf 00 1 1110 type 1 rmode opcode 000000
 */
static bool a64_fp_int(uint32_t w, struct insn *in)
{
	unsigned type = a64_bits(w, 23, 22), rmode = a64_bits(w, 20, 19);
	unsigned opcode = a64_bits(w, 18, 16);
	bool is64 = w >> 31, to_fp = opcode == 2 || opcode == 3 || opcode == 7;

	if (to_fp)
		in->reads = a64_x(a64_rn(w));
	else
		in->writes = a64_x(a64_rd(w));
	in->fp = opcode < 6 || rmode == 3; /* the others are fmov */
	if (opcode < 6) /* only fcvtn p m z and fcvta have a rounding mode */
		return type != 2 && (rmode == 0 || opcode < 2);
	if (rmode == 3 && opcode == 6 && !is64 && type == 1) { /* fjcvtzs */
		in->flags_written = A64_NZCV;
		return true;
	}
	/* fmov: w-s, x-d, w-h, x-h; with rmode 1, x-v.d[1] */
	if (rmode == 1)
		return is64 && type == 2;
	return rmode == 0 && type != 2 && (type == 3 || type == is64);
}

/*
 * fcvtz scvtf ucvtf, fixed point    sf 00 1 1110 type 0 rmode opcode scale
 */
static bool a64_fp_fixed(uint32_t w, struct insn *in)
{
	unsigned form = a64_bits(w, 20, 16);

	in->fp = true;
	if (a64_bits(w, 23, 22) == 2 || (!(w >> 31) && !a64_bit(w, 15)))
		return false;
	if (form == 2 || form == 3) {
		in->reads = a64_x(a64_rn(w));
		return true;
	}
	in->writes = a64_x(a64_rd(w));
	return form == 24 || form == 25;
}

/* fmov, fcsel: floating-point values are moved and not looked at */
static bool a64_fp_moves(uint32_t w)
{
	switch (a64_bits(w, 11, 10)) {
	case 0:
		return a64_bits(w, 12, 10) == 4 ||
		       (a64_bits(w, 14, 10) == 16 && !a64_bits(w, 20, 15));
	case 3:
		return true;
	default:
		return false;
	}
}

/*
 * scalar floating point    0 0 0 1 1110 type 1 Rm ... Rn Rd
 *
 *	bits 15:10   000000 integer conversions   xx1000 fcmp
 *	             x10000 one source, xxx100 immediate
 *	             cond01 fccmp, xxxx10 two sources, cond11 fcsel
 */
static bool a64_fp_scalar(uint32_t w, struct insn *in)
{
	unsigned op = a64_bits(w, 11, 10), cond = a64_bits(w, 15, 12);

	if (a64_bits(w, 15, 10) == 0)
		return a64_fp_int(w, in);
	if (w >> 31 || !a64_simd_allocated(w))
		return false;
	in->fp = !a64_fp_moves(w);
	if (op == 1 || op == 3)
		in->flags_read = a64_cond_flags(cond);
	if (op == 1 || a64_bits(w, 13, 10) == 8)
		in->flags_written = A64_NZCV;
	if (op == 0 && a64_bits(w, 13, 10) == 8)
		return a64_bits(w, 23, 22) != 2 && !a64_bits(w, 15, 14) &&
		       !a64_bits(w, 2, 0);
	return true;
}

/*
 * dup smov umov ins    0 Q op 0 1110 000 imm5 0 imm4 1 Rn Rd
 */
static bool a64_simd_copy(uint32_t w, struct insn *in)
{
	unsigned imm5 = a64_bits(w, 20, 16), lane = imm5 & -imm5;
	bool q = a64_bit(w, 30);

	if (!(imm5 & 15))
		return false;
	if (a64_bit(w, 29)) /* ins from a lane */
		return q;
	switch (a64_bits(w, 14, 11)) {
	case 0: /* dup from a lane */
		return lane != 8 || q;
	case 1: /* dup from a general register */
		in->reads = a64_x(a64_rn(w));
		return lane != 8 || q;
	case 3: /* ins from a general register */
		in->reads = a64_x(a64_rn(w));
		return q;
	case 5: /* smov */
		in->writes = a64_x(a64_rd(w));
		return q ? lane < 8 : lane < 4;
	case 7: /* umov */
		in->writes = a64_x(a64_rd(w));
		return q ? lane == 8 : lane < 8;
	default:
		return false;
	}
}

/* floating point and SIMD: bits 27:25 = 111 */
bool a64_vector(uint32_t w, struct insn *in)
{
	in->vector = true;
	/* x0x1 1110: floating point with one lane, and conversions */
	if ((w & 0x7f000000) == 0x1e000000)
		return a64_bit(w, 21) ? a64_fp_scalar(w, in)
				      : a64_fp_fixed(w, in);
	a64_simd_class(w, in);
	/* 0xx0 1110 000x xxxx 0xxx x1: lane moves */
	if ((w & 0x9fe08400) == 0x0e000400)
		return a64_simd_copy(w, in);
	return a64_simd_allocated(w);
}
