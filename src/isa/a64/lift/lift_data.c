/*
 * a64 lift_data: integer data processing as micro-operations.
 *
 * Fields as in data.c. Modelled exactly: addition, logic, moves, bit fields,
 * extraction, shifts, selects, comparisons, multiplication. Carries (adc),
 * division, rotations by a register and single-operand instructions (rev, clz)
 * are not: addresses are hardly computed that way.
 */
#include "isa/a64/lift/lift.h"

/*
 * append flags of a + b as those of a - (-b), which are the same unless b
 * is 0 (then the carry differs) or not a constant
 */
static void a64_compare_negative(struct lifter *l, unsigned a, unsigned b,
				 uint64_t imm)
{
	if (b == UOP_IMM && imm)
		a64_put(l, UOP_CMP, UOP_FLAGS, a, UOP_IMM, -imm);
	else
		a64_other(l, UOP_FLAGS);
}

/* append dst = a + b or a - b as bits 30 and 29 (op, S) of the word say */
static void a64_add_sub(struct lifter *l, unsigned dst, unsigned a, unsigned b,
			uint64_t imm)
{
	bool sub = a64_bit(l->w, 30), flags = a64_bit(l->w, 29);

	if (flags && sub)
		a64_put(l, UOP_CMP, UOP_FLAGS, a, b, imm);
	else if (flags)
		a64_compare_negative(l, a, b, imm);
	if (b == UOP_IMM && imm == 0)
		a64_copy(l, dst, a, 0);
	else
		a64_set(l, sub ? UOP_SUB : UOP_ADD, dst, a, b, imm);
}

/* append dst = a op b, op by bits 30:29: and, orr, eor, ands */
static void a64_logic(struct lifter *l, unsigned dst, unsigned a, unsigned b,
		      uint64_t imm)
{
	static const uint8_t codes[4] = {UOP_AND, UOP_OR, UOP_XOR, UOP_AND};
	unsigned opc = a64_bits(l->w, 30, 29);

	if (opc == 3)
		a64_put(l, UOP_TEST, UOP_FLAGS, a, b, imm);
	if (opc == 1 && a == UOP_IMM) /* mov */
		a64_copy(l, dst, b, imm);
	else
		a64_set(l, codes[opc], dst, a, b, imm);
}

/* add sub with an immediate; sp is allowed where no flags are set */
static void a64_lift_add_imm(struct lifter *l)
{
	uint64_t imm = a64_bits(l->w, 21, 10);
	unsigned rd = a64_rd(l->w);

	if (a64_bit(l->w, 22))
		imm <<= 12;
	if (a64_bit(l->w, 29))
		rd = a64_dst(rd);
	a64_add_sub(l, rd, a64_rn(l->w), UOP_IMM, imm);
}

/* and orr eor ands with an immediate */
static void a64_lift_logic_imm(struct lifter *l)
{
	uint32_t w = l->w;
	uint64_t imm = a64_logical_imm(a64_bit(w, 22), a64_bits(w, 15, 10),
				       a64_bits(w, 21, 16), w >> 31);
	unsigned rd = a64_rd(w);

	if (a64_bits(w, 30, 29) == 3)
		rd = a64_dst(rd);
	a64_logic(l, rd, a64_src(a64_rn(w)), UOP_IMM, imm);
}

/* movn movz movk */
static void a64_lift_move_wide(struct lifter *l)
{
	unsigned shift = 16 * a64_bits(l->w, 22, 21);
	unsigned dst = a64_dst(a64_rd(l->w));
	uint64_t imm = (uint64_t)a64_bits(l->w, 20, 5) << shift;
	uint64_t ones = l->width == 64 ? UINT64_MAX : UINT32_MAX;

	switch (a64_bits(l->w, 30, 29)) {
	case 0: /* movn */
		a64_copy(l, dst, UOP_IMM, ~imm & ones);
		return;
	case 2: /* movz */
		a64_copy(l, dst, UOP_IMM, imm);
		return;
	default: /* movk */
		a64_set(l, UOP_AND, dst, dst, UOP_IMM,
			~(UINT64_C(0xffff) << shift) & ones);
		a64_set(l, UOP_OR, dst, dst, UOP_IMM, imm);
	}
}

/* bfm: dst keeps its bits outside of the field `mask` */
static void a64_lift_insert(struct lifter *l, unsigned dst, unsigned src,
			    unsigned r, unsigned len, bool right)
{
	uint64_t ones = l->width == 64 ? UINT64_MAX : UINT32_MAX;
	uint64_t mask = len == 64 ? UINT64_MAX : (UINT64_C(1) << len) - 1;

	if (dst == UOP_NONE)
		return;
	if (right) {
		a64_shift(l, UOP_SHR, UOP_TMP0, src, r);
	} else {
		a64_shift(l, UOP_SHL, UOP_TMP0, src, l->width - r);
		mask <<= l->width - r;
	}
	a64_put(l, UOP_AND, UOP_TMP0, UOP_TMP0, UOP_IMM, mask);
	a64_put(l, UOP_AND, UOP_TMP1, dst, UOP_IMM, ~mask & ones);
	a64_put(l, UOP_OR, dst, UOP_TMP0, UOP_TMP1, 0);
}

/*
 * sbfm, bfm, ubfm move a field of the source:
 *
 *	s >= r: bits s..r go to the bottom; s < r: bits s..0 go up to width-r
 */
static void a64_lift_bitfield(struct lifter *l)
{
	unsigned r = a64_bits(l->w, 21, 16), s = a64_bits(l->w, 15, 10);
	unsigned opc = a64_bits(l->w, 30, 29), width = l->width;
	unsigned dst = a64_dst(a64_rd(l->w)), src = a64_src(a64_rn(l->w));
	unsigned extend = opc == 0 ? UOP_SEXT : UOP_ZEXT;
	unsigned len = s >= r ? s - r + 1 : s + 1;

	if (dst == UOP_NONE)
		return;
	if (opc == 1) {
		a64_lift_insert(l, dst, src, r, len, s >= r);
	} else if (s >= r && s == width - 1) { /* lsr asr */
		a64_shift(l, opc == 0 ? UOP_SAR : UOP_SHR, dst, src, r);
	} else if (s >= r) { /* sbfx ubfx sxtw uxtb */
		if (r)
			a64_shift(l, UOP_SHR, UOP_TMP0, src, r);
		a64_extend(l, extend, dst, r ? UOP_TMP0 : src, len);
	} else if (len == r) { /* lsl */
		a64_shift(l, UOP_SHL, dst, src, width - r);
	} else { /* sbfiz ubfiz */
		a64_extend(l, extend, UOP_TMP0, src, len);
		a64_shift(l, UOP_SHL, dst, UOP_TMP0, width - r);
	}
}

/* append dst = low half of hi:lo shifted right by n bits, n < width */
static void a64_funnel(struct lifter *l, unsigned dst, unsigned hi, unsigned lo,
		       unsigned n)
{
	if (n == 0) {
		a64_copy(l, dst, lo, 0);
		return;
	}
	a64_shift(l, UOP_SHR, UOP_TMP0, lo, n);
	a64_shift(l, UOP_SHL, UOP_TMP1, hi, l->width - n);
	a64_set(l, UOP_OR, dst, UOP_TMP0, UOP_TMP1, 0);
}

/* data processing with an immediate */
void a64_lift_data_imm(struct lifter *l)
{
	uint32_t w = l->w;

	switch (a64_bits(w, 25, 23)) {
	case 0:
	case 1:
		l->width = 64;
		a64_copy(l, a64_dst(a64_rd(w)), UOP_IMM, l->in->ref);
		return;
	case 2:
		a64_lift_add_imm(l);
		return;
	case 4:
		a64_lift_logic_imm(l);
		return;
	case 5:
		a64_lift_move_wide(l);
		return;
	case 6:
		a64_lift_bitfield(l);
		return;
	case 7:
		if (w >> 29 == 7)
			a64_generic(l);
		else if (a64_rd(w) != 31)
			a64_funnel(l, a64_rd(w), a64_src(a64_rn(w)),
				   a64_src(a64_rm(w)), a64_bits(w, 15, 10));
		return;
	default:
		a64_generic(l);
	}
}

/* the second operand Rm, shifted by n in way 0 lsl, 1 lsr, 2 asr, 3 ror */
static unsigned a64_shifted(struct lifter *l, unsigned way, unsigned n)
{
	static const uint8_t codes[3] = {UOP_SHL, UOP_SHR, UOP_SAR};
	unsigned src = a64_src(a64_rm(l->w));

	if (n == 0 || src == UOP_IMM)
		return src;
	if (way == 3)
		a64_funnel(l, UOP_TMP0, src, src, n);
	else
		a64_shift(l, codes[way], UOP_TMP0, src, n);
	return UOP_TMP0;
}

/*
 * the second operand Rm, extended as `option` says and shifted left
 *
 *	option: 0 uxtb, 1 uxth, 2 uxtw, 3 uxtx, 4 sxtb, 5 sxth, 6 sxtw, 7 sxtx
 */
unsigned a64_extended(struct lifter *l, unsigned option, unsigned n)
{
	unsigned bits = 8u << (option & 3), src = a64_src(a64_rm(l->w));

	if (src == UOP_IMM)
		return src;
	if (bits < l->width) {
		a64_extend(l, option & 4 ? UOP_SEXT : UOP_ZEXT, UOP_TMP0, src,
			   bits);
		src = UOP_TMP0;
	}
	if (n) {
		a64_shift(l, UOP_SHL, UOP_TMP0, src, n);
		src = UOP_TMP0;
	}
	return src;
}

/* logic, addition and subtraction of registers */
static void a64_lift_logic_add(struct lifter *l)
{
	uint32_t w = l->w;
	unsigned rd = a64_rd(w), rn = a64_rn(w), b;

	if (a64_bit(w, 24) && a64_bit(w, 21)) {
		b = a64_extended(l, a64_bits(w, 15, 13), a64_bits(w, 12, 10));
		if (a64_bit(w, 29))
			rd = a64_dst(rd);
		a64_add_sub(l, rd, rn, b, 0);
		return;
	}
	b = a64_shifted(l, a64_bits(w, 23, 22), a64_bits(w, 15, 10));
	if (a64_bit(w, 24)) {
		a64_add_sub(l, a64_dst(rd), a64_src(rn), b, 0);
		return;
	}
	if (!a64_bit(w, 21)) {
		a64_logic(l, a64_dst(rd), a64_src(rn), b, 0);
	} else if (b == UOP_IMM) { /* bic and its kin with zero */
		a64_logic(l, a64_dst(rd), a64_src(rn), b, UINT64_MAX);
	} else {
		a64_put(l, UOP_XOR, UOP_TMP0, b, UOP_IMM, UINT64_MAX);
		a64_logic(l, a64_dst(rd), a64_src(rn), UOP_TMP0, 0);
	}
}

/* ccmp, and ccmn of a constant */
static void a64_lift_cond_compare(struct lifter *l)
{
	uint32_t w = l->w;
	unsigned a = a64_src(a64_rn(w)), b = a64_src(a64_rm(w));
	uint64_t imm = 0;
	struct uop *u;

	if (a64_bit(w, 11)) {
		imm = a64_rm(w);
		b = UOP_IMM;
	}
	if (!a64_bit(w, 30)) { /* ccmn */
		if (b != UOP_IMM || imm == 0) {
			a64_other(l, UOP_FLAGS);
			return;
		}
		imm = -imm;
	}
	u = a64_put(l, UOP_CCMP, UOP_FLAGS, a, b, imm);
	u->cond = a64_cond(a64_bits(w, 15, 12));
	u->nzcv = (a64_bit(w, 3) ? FLAG_N : 0) | (a64_bit(w, 2) ? FLAG_Z : 0) |
		  (a64_bit(w, 1) ? FLAG_C : 0) | (a64_bit(w, 0) ? FLAG_V : 0);
}

/* csel, and csinc csinv csneg, which change the second operand first */
static void a64_lift_cond_select(struct lifter *l)
{
	/* what the zero register becomes: csel csinc csinv csneg */
	static const uint64_t of_zero[4] = {0, 1, UINT64_MAX, 0};
	uint32_t w = l->w;
	unsigned dst = a64_dst(a64_rd(w)), b = a64_src(a64_rm(w));
	unsigned op = (a64_bit(w, 30) ? 2 : 0) | a64_bit(w, 10);

	if (dst == UOP_NONE)
		return;
	if (op && b == UOP_IMM) /* cset csetm */
		a64_copy(l, UOP_TMP0, UOP_IMM, of_zero[op]);
	else if (op == 1)
		a64_put(l, UOP_ADD, UOP_TMP0, b, UOP_IMM, 1);
	else if (op == 2)
		a64_put(l, UOP_XOR, UOP_TMP0, b, UOP_IMM, UINT64_MAX);
	else if (op == 3)
		a64_put(l, UOP_SUB, UOP_TMP0, UOP_IMM, b, 0);
	a64_put(l, UOP_SELECT, dst, a64_src(a64_rn(w)), op ? UOP_TMP0 : b, 0)
		->cond = a64_cond(a64_bits(w, 15, 12));
}

/* madd msub, and smaddl and its kin, which extend their factors first */
static void a64_lift_multiply(struct lifter *l)
{
	uint32_t w = l->w;
	unsigned op = a64_bits(w, 23, 21), dst = a64_dst(a64_rd(w));
	unsigned a = a64_src(a64_rn(w)), b = a64_src(a64_rm(w));
	unsigned sum = a64_src(a64_ra(w));
	unsigned extend = op == 1 ? UOP_SEXT : UOP_ZEXT;

	if (op != 0 && op != 1 && op != 5) {
		a64_generic(l);
		return;
	}
	if (op && a != UOP_IMM) {
		a64_extend(l, extend, UOP_TMP0, a, 32);
		a = UOP_TMP0;
	}
	if (op && b != UOP_IMM) {
		a64_extend(l, extend, UOP_TMP1, b, 32);
		b = UOP_TMP1;
	}
	if (sum == UOP_IMM && !a64_bit(w, 15)) {
		a64_set(l, UOP_MUL, dst, a, b, 0);
		return;
	}
	a64_put(l, UOP_MUL, UOP_TMP0, a, b, 0);
	a64_set(l, a64_bit(w, 15) ? UOP_SUB : UOP_ADD, dst, sum, UOP_TMP0, 0);
}

/* lslv lsrv asrv: by a register modulo the width; of rorv nothing is known */
static void a64_lift_shift_by(struct lifter *l)
{
	static const uint8_t codes[3] = {UOP_SHL, UOP_SHR, UOP_SAR};
	uint32_t w = l->w;
	unsigned dst = a64_dst(a64_rd(w)), way = a64_bits(w, 11, 10);
	unsigned a = a64_src(a64_rn(w)), n = a64_src(a64_rm(w));

	if (a64_bit(w, 30) || a64_bits(w, 15, 12) != 2 || way == 3) {
		a64_generic(l);
		return;
	}
	if (a == UOP_IMM || n == UOP_IMM) {
		a64_copy(l, dst, a, 0);
		return;
	}
	if (dst == UOP_NONE)
		return;
	a64_put(l, UOP_AND, UOP_TMP0, n, UOP_IMM, l->width - 1);
	a64_put(l, codes[way], dst, a, UOP_TMP0, 0);
}

/* data processing on registers */
void a64_lift_data_reg(struct lifter *l)
{
	if (!a64_bit(l->w, 28)) {
		a64_lift_logic_add(l);
		return;
	}
	switch (a64_bits(l->w, 24, 21)) {
	case 2:
		a64_lift_cond_compare(l);
		return;
	case 4:
		a64_lift_cond_select(l);
		return;
	case 6:
		a64_lift_shift_by(l);
		return;
	case 8 ... 15:
		a64_lift_multiply(l);
		return;
	default:
		a64_generic(l);
	}
}
