/*
 * a64 data: integer arithmetic, logic and moves on general registers.
 *
 * Here the register sets follow from a few fields: Rd (4:0) is written, Rn
 * (9:5) and mostly Rm (20:16) are read, S (bit 29) says that flags are
 * written, and sf (bit 31) the width, which no set depends on.
 */
#include "isa/a64/a64.h"

uint64_t a64_logical_imm(bool n, unsigned imms, unsigned immr, bool is64)
{
	unsigned size = 64, ones, rot, zeros;
	uint64_t mask, value;

	if (n && !is64)
		return 0;
	if (!n) { /* imms = 1..10 xxxx: the place of the 0 tells the size */
		zeros = ~imms & 0x3e;
		if (!zeros)
			return 0;
		size = 1u << (31 - __builtin_clz(zeros));
	}
	ones = (imms & (size - 1)) + 1;
	rot = immr & (size - 1);
	if (ones == size)
		return 0;
	mask = size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
	value = (UINT64_C(1) << ones) - 1;
	if (rot)
		value = (value >> rot | value << (size - rot)) & mask;
	for (; size < 64; size *= 2)
		value |= value << size;
	return is64 ? value : (uint32_t)value;
}

/*
 * adr adrp    p immlo 1 0000 immhi Rd
 */
bool a64_pcrel(uint32_t w, struct insn *in)
{
	uint64_t imm = (uint64_t)a64_sbits(w, 23, 5) << 2 | a64_bits(w, 30, 29);

	in->writes = a64_x(a64_rd(w));
	if (w >> 31) {
		in->ref_kind = REF_PAGE;
		in->ref = (in->addr & ~UINT64_C(0xfff)) + (imm << 12);
	} else {
		in->ref_kind = REF_ADDRESS;
		in->ref = in->addr + imm;
	}
	return true;
}

/*
 * add sub immediate    sf op S 1 0001 0 sh imm12 Rn Rd
 */
bool a64_add_imm(uint32_t w, struct insn *in)
{
	in->reads = a64_xsp(a64_rn(w));
	if (a64_bit(w, 29)) {
		in->flags_written = A64_NZCV;
		in->writes = a64_x(a64_rd(w));
	} else {
		in->writes = a64_xsp(a64_rd(w));
	}
	/* add xd, xn, #lo12 completes what adrp has begun */
	in->has_imm = a64_bits(w, 31, 29) == 4 && !a64_bit(w, 22);
	in->imm = in->has_imm ? a64_bits(w, 21, 10) : 0;
	return true;
}

/*
 * addg subg         1 op 0 1 0001 10 uimm6 00 uimm4 Xn Xd
 * smax umax ...     sf 0 0 1 0001 11 00xx imm8 Rn Rd
 */
bool a64_tag_minmax_imm(uint32_t w, struct insn *in)
{
	if (a64_bit(w, 29))
		return false;
	if (a64_bit(w, 22)) {
		in->reads = a64_x(a64_rn(w));
		in->writes = a64_x(a64_rd(w));
		return !a64_bit(w, 30) && !a64_bits(w, 21, 20);
	}
	in->reads = a64_xsp(a64_rn(w));
	in->writes = a64_xsp(a64_rd(w));
	return w >> 31 && !a64_bits(w, 15, 14);
}

/*
 * and orr eor ands    sf opc 1 0010 0 N immr imms Rn Rd
 */
bool a64_logic_imm(uint32_t w, struct insn *in)
{
	bool is64 = w >> 31;

	if (!a64_logical_imm(a64_bit(w, 22), a64_bits(w, 15, 10),
			     a64_bits(w, 21, 16), is64))
		return false;
	in->reads = a64_x(a64_rn(w));
	if (a64_bits(w, 30, 29) == 3) {
		in->flags_written = A64_NZCV;
		in->writes = a64_x(a64_rd(w));
	} else {
		in->writes = a64_xsp(a64_rd(w));
	}
	return true;
}

/*
 * movn movz movk    sf opc 1 0010 1 hw imm16 Rd
 */
bool a64_move_wide(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 30, 29);

	in->writes = a64_x(a64_rd(w));
	if (opc == 3)
		in->reads = in->writes;
	return opc != 1 && (w >> 31 || !a64_bit(w, 22));
}

/*
 * sbfm bfm ubfm    sf opc 1 0011 0 N immr imms Rn Rd
 */
bool a64_bitfield(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 30, 29);

	in->reads = a64_x(a64_rn(w));
	in->writes = a64_x(a64_rd(w));
	if (opc == 1)
		in->reads |= in->writes;
	if (opc == 3 || a64_bit(w, 22) != w >> 31)
		return false;
	return w >> 31 || (!a64_bit(w, 21) && !a64_bit(w, 15));
}

/*
 * extr         sf 00 1 0011 1 N 0 Rm imms Rn Rd
 * autiasppc    1 11 1 0011 1 00k imm16 11111   (PC-relative: see retaasppc)
 */
bool a64_extract(uint32_t w, struct insn *in)
{
	if (w >> 29 == 7 && !a64_bit(w, 22) && a64_rd(w) == 31) {
		in->reads = a64_x(A64_LR) | a64_xsp(A64_SP);
		in->writes = a64_x(A64_LR);
		in->ref_kind = REF_ADDRESS;
		in->ref = in->addr - 4 * (uint64_t)a64_bits(w, 20, 5);
		return true;
	}
	if (a64_bits(w, 30, 29) || a64_bit(w, 21) ||
	    a64_bit(w, 22) != w >> 31 || (!(w >> 31) && a64_bit(w, 15)))
		return false;
	in->reads = a64_x(a64_rn(w)) | a64_x(a64_rm(w));
	in->writes = a64_x(a64_rd(w));
	return true;
}

/* the common case: Rd = f(Rn, Rm), none of them sp */
static void a64_three_regs(uint32_t w, struct insn *in)
{
	in->reads = a64_x(a64_rn(w)) | a64_x(a64_rm(w));
	in->writes = a64_x(a64_rd(w));
}

/*
 * and orr eor ands, bic ...    sf opc 0 1010 shift N Rm imm6 Rn Rd
 */
bool a64_logic_reg(uint32_t w, struct insn *in)
{
	a64_three_regs(w, in);
	if (a64_bits(w, 30, 29) == 3)
		in->flags_written = A64_NZCV;
	return w >> 31 || !a64_bit(w, 15);
}

/*
 * add sub shifted     sf op S 0 1011 shift 0 Rm imm6 Rn Rd
 * add sub extended    sf op S 0 1011 00 1 Rm option imm3 Rn Rd
 */
bool a64_add_reg(uint32_t w, struct insn *in)
{
	a64_three_regs(w, in);
	if (a64_bit(w, 29))
		in->flags_written = A64_NZCV;
	if (a64_bit(w, 21)) {
		in->reads = a64_xsp(a64_rn(w)) | a64_x(a64_rm(w));
		if (!in->flags_written)
			in->writes = a64_xsp(a64_rd(w));
		return !a64_bits(w, 23, 22) && a64_bits(w, 12, 10) <= 4;
	}
	return a64_bits(w, 23, 22) != 3 && (w >> 31 || !a64_bit(w, 15));
}

/*
 * adc sbc          sf op S 1 1010 000 Rm 000000 Rn Rd
 * addpt subpt      1 op 0 1 1010 000 Rm 001 imm3 Rn Rd
 * rmif             1 0 1 1 1010 000 imm6 00001 Rn 0 mask
 * setf8 setf16     0 0 1 1 1010 000 000000 sz 0010 Rn 01101
 */
static bool a64_carry(uint32_t w, struct insn *in)
{
	if (a64_bits(w, 15, 10) == 0) {
		a64_three_regs(w, in);
		in->flags_read = FLAG_C;
		if (a64_bit(w, 29))
			in->flags_written = A64_NZCV;
		return true;
	}
	if (a64_bits(w, 15, 13) == 1) {
		in->reads = a64_xsp(a64_rn(w)) | a64_x(a64_rm(w));
		in->writes = a64_xsp(a64_rd(w));
		return w >> 31 && !a64_bit(w, 29);
	}
	in->reads = a64_x(a64_rn(w));
	if (w >> 29 == 5 && a64_bits(w, 14, 10) == 1 && !a64_bit(w, 4)) {
		in->flags_written = (a64_bit(w, 3) ? FLAG_N : 0) |
				    (a64_bit(w, 2) ? FLAG_Z : 0) |
				    (a64_bit(w, 1) ? FLAG_C : 0) |
				    (a64_bit(w, 0) ? FLAG_V : 0);
		return true;
	}
	in->flags_written = FLAG_N | FLAG_Z | FLAG_V;
	return w >> 29 == 1 && a64_bits(w, 20, 15) == 0 &&
	       a64_bits(w, 13, 10) == 2 && a64_rd(w) == 13;
}

/*
 * ccmn ccmp    sf op 1 1 1010 010 Rm/imm5 cond i 0 Rn 0 nzcv
 */
static bool a64_cond_compare(uint32_t w, struct insn *in)
{
	in->reads = a64_x(a64_rn(w));
	if (!a64_bit(w, 11))
		in->reads |= a64_x(a64_rm(w));
	in->flags_read = a64_cond_flags(a64_bits(w, 15, 12));
	in->flags_written = A64_NZCV;
	return a64_bit(w, 29) && !a64_bit(w, 10) && !a64_bit(w, 4);
}

/*
 * csel csinc csinv csneg    sf op 0 1 1010 100 Rm cond 0 o2 Rn Rd
 */
static bool a64_cond_select(uint32_t w, struct insn *in)
{
	a64_three_regs(w, in);
	in->flags_read = a64_cond_flags(a64_bits(w, 15, 12));
	return !a64_bit(w, 29) && !a64_bit(w, 11);
}

/*
 * two sources    sf 0 S 1 1010 110 Rm opcode Rn Rd
 */
static bool a64_two_sources(uint32_t w, struct insn *in)
{
	unsigned opcode = a64_bits(w, 15, 10);
	bool is64 = w >> 31;

	a64_three_regs(w, in);
	if (a64_bit(w, 29) && !(opcode == 0 && is64))
		return false;
	switch (opcode) {
	case 0: /* subp subps */
		in->reads = a64_xsp(a64_rn(w)) | a64_xsp(a64_rm(w));
		if (a64_bit(w, 29))
			in->flags_written = A64_NZCV;
		return is64;
	case 2 ... 3:   /* udiv sdiv */
	case 8 ... 11:  /* lslv lsrv asrv rorv */
	case 24 ... 27: /* smax umax smin umin */
		return true;
	case 4: /* irg */
		in->reads = a64_xsp(a64_rn(w)) | a64_x(a64_rm(w));
		in->writes = a64_xsp(a64_rd(w));
		return is64;
	case 5: /* gmi */
		in->reads = a64_xsp(a64_rn(w)) | a64_x(a64_rm(w));
		return is64;
	case 12: /* pacga */
		in->reads = a64_x(a64_rn(w)) | a64_xsp(a64_rm(w));
		return is64;
	case 16 ... 23: /* crc32, crc32c: 010 c sz */
		return is64 == ((opcode & 3) == 3);
	default:
		return false;
	}
}

/*
 * one source    sf 1 S 1 1010 110 opcode2 opcode Rn Rd
 */
static bool a64_one_source(uint32_t w, struct insn *in)
{
	unsigned opcode = a64_bits(w, 15, 10);
	bool is64 = w >> 31;

	in->reads = a64_x(a64_rn(w));
	in->writes = a64_x(a64_rd(w));
	if (a64_bit(w, 29))
		return false;
	if (a64_bits(w, 20, 16) == 0) /* rbit rev clz cls ctz cnt abs */
		return opcode <= 8 && (opcode != 3 || is64);
	if (a64_bits(w, 20, 16) != 1 || !is64)
		return false;
	/* pacia and its kin: Rn is the modifier, or 31 for zero and xpac */
	if (opcode < 8) {
		in->reads = a64_xsp(a64_rn(w)) | in->writes;
		return true;
	}
	in->reads = in->writes;
	return opcode <= 17 && a64_rn(w) == 31;
}

/*
 * madd and its kin    sf 00 1 1011 op31 Rm o0 Ra Rn Rd
 */
bool a64_three_sources(uint32_t w, struct insn *in)
{
	bool sub = a64_bit(w, 15), is64 = w >> 31;

	a64_three_regs(w, in);
	in->reads |= a64_x(a64_ra(w));
	if (a64_bits(w, 30, 29))
		return false;
	switch (a64_bits(w, 23, 21)) {
	case 0: /* madd msub */
		return true;
	case 1: /* smaddl smsubl */
	case 3: /* maddpt msubpt */
	case 5: /* umaddl umsubl */
		return is64;
	case 2: /* smulh */
	case 6: /* umulh: Ra is not used */
		a64_three_regs(w, in);
		return is64 && !sub;
	default:
		return false;
	}
}

/* the rest of data processing on registers: bits 28:24 = 11010 */
bool a64_data_misc(uint32_t w, struct insn *in)
{
	switch (a64_bits(w, 23, 21)) {
	case 0:
		return a64_carry(w, in);
	case 2:
		return a64_cond_compare(w, in);
	case 4:
		return a64_cond_select(w, in);
	case 6:
		return a64_bit(w, 30) ? a64_one_source(w, in)
				      : a64_two_sources(w, in);
	default:
		return false;
	}
}
