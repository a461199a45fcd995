/*
 * a64 lift: an instruction's effect as micro-operations (isa/uop.h).
 *
 * Integer arithmetic, moves, bit fields, selects, comparisons, branches and
 * all loads and stores whose address is computed from general registers are
 * told exactly. What is left is told by decode(): each register and the flags
 * that it says are written become UOP_OTHER, memory written UOP_STORE or
 * UOP_CLOBBER.
 *
 * An instruction that is not known lifts to the single uop
 *
 *	CLOBBER dst = UOP_NONE
 *
 * and the caller, who sees INSN_UNKNOWN, takes it as changing all memory,
 * every register and the flags: UOP_MAX has no room to list them.
 *
 * Temporaries: TMP0 and TMP1 hold addresses and second operands, TMP2 a value
 * loaded and not yet extended, TMP3 zero where two operands would be constant.
 */
#include "isa/a64/a64.h"
#include "isa/uop.h"

struct lifter {
	uint32_t w;
	const struct insn *in;
	struct uop *out;
	unsigned n;
	unsigned width; /* by sf, bit 31 */
};

/* a register operand or destination whose number 31 is sp needs no change */

/* the operand for register r, where 31 is zero: a constant 0 */
static unsigned a64_src(unsigned r)
{
	return r == 31 ? UOP_IMM : r;
}

/* the destination for register r, where 31 is nowhere */
static unsigned a64_dst(unsigned r)
{
	return r == 31 ? UOP_NONE : r;
}

/*
 * Append a uop. A constant `a` is the zero register; if `b` is constant too,
 * imm is b's.
 */
static struct uop *a64_put(struct lifter *l, unsigned code, unsigned dst,
			   unsigned a, unsigned b, uint64_t imm)
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

/* append dst = a op b, unless dst is the zero register */
static void a64_set(struct lifter *l, unsigned code, unsigned dst, unsigned a,
		    unsigned b, uint64_t imm)
{
	if (dst != UOP_NONE)
		a64_put(l, code, dst, a, b, imm);
}

/* append dst = a, or the constant imm */
static void a64_copy(struct lifter *l, unsigned dst, unsigned a, uint64_t imm)
{
	a64_set(l, UOP_COPY, dst, a, UOP_NONE, imm);
}

/* append dst = the low `bits` of a, extended by `code` to l->width */
static void a64_extend(struct lifter *l, unsigned code, unsigned dst,
		       unsigned a, unsigned bits)
{
	if (bits == l->width)
		a64_copy(l, dst, a, 0);
	else if (dst != UOP_NONE)
		a64_put(l, code, dst, a, UOP_NONE, 0)->size = (uint8_t)bits;
}

/* append dst = a shifted by n, or a copy if n is 0 */
static void a64_shift(struct lifter *l, unsigned code, unsigned dst,
		      unsigned a, unsigned n)
{
	if (n)
		a64_set(l, code, dst, a, UOP_IMM, n);
	else
		a64_copy(l, dst, a, 0);
}

/* append: dst becomes something unknown */
static void a64_other(struct lifter *l, unsigned dst)
{
	a64_put(l, UOP_OTHER, dst, UOP_NONE, UOP_NONE, 0)->width = 64;
}

/* append a store of `bytes` at the address in a */
static void a64_store(struct lifter *l, unsigned a, unsigned b, unsigned bytes)
{
	struct uop *u = a64_put(l, UOP_STORE, UOP_NONE, a, b, 0);

	u->size = (uint8_t)bytes;
	u->width = 64;
}

/* what decode() says and nobody told better; stores go to address `addr` */
static void a64_generic_at(struct lifter *l, unsigned addr)
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

/* what decode() says, the address of stores not told */
static void a64_generic(struct lifter *l)
{
	a64_generic_at(l, UOP_NONE);
}

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
	static const uint8_t codes[4] = { UOP_AND, UOP_OR, UOP_XOR, UOP_AND };
	unsigned opc = a64_bits(l->w, 30, 29);

	if (opc == 3)
		a64_put(l, UOP_TEST, UOP_FLAGS, a, b, imm);
	if (opc == 1 && a == UOP_IMM) /* mov */
		a64_copy(l, dst, b, imm);
	else
		a64_set(l, codes[opc], dst, a, b, imm);
}

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
static void a64_funnel(struct lifter *l, unsigned dst, unsigned hi,
		       unsigned lo, unsigned n)
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
static void a64_lift_data_imm(struct lifter *l)
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
	static const uint8_t codes[3] = { UOP_SHL, UOP_SHR, UOP_SAR };
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
static unsigned a64_extended(struct lifter *l, unsigned option, unsigned n)
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
	static const uint64_t of_zero[4] = { 0, 1, UINT64_MAX, 0 };
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

/* data processing on registers */
static void a64_lift_data_reg(struct lifter *l)
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
	case 8 ... 15:
		a64_lift_multiply(l);
		return;
	default:
		a64_generic(l);
	}
}

/* what one register's load or store does with its value */
struct transfer {
	bool load, simd;
	uint8_t bytes;
	uint8_t sign; /* loads: sign-extend to 32 or 64 bits; 0 for zero */
};

/* append the load or store of register r at the address in `addr` */
static void a64_move(struct lifter *l, const struct transfer *t, unsigned r,
		     unsigned addr)
{
	struct uop *u;

	if (!t->load) {
		a64_store(l, addr, t->simd ? UOP_NONE : a64_src(r), t->bytes);
		return;
	}
	if (t->simd || r == 31)
		return;
	u = a64_put(l, UOP_LOAD, t->sign ? UOP_TMP2 : r, addr, UOP_NONE, 0);
	u->size = t->bytes;
	u->width = 64;
	if (addr == UOP_IMM)
		u->imm = (int64_t)l->in->ref;
	if (t->sign) {
		l->width = t->sign;
		a64_extend(l, UOP_SEXT, r, UOP_TMP2, 8u * t->bytes);
	}
}

/* the fields size, V and opc of a single-register access; see memory.c */
static struct transfer a64_transfer_kind(uint32_t w)
{
	unsigned opc = a64_bits(w, 23, 22);
	struct transfer t = { .load = opc != 0, .bytes = 1 << (w >> 30) };

	if (a64_bit(w, 26)) {
		t.simd = true;
		t.load = opc & 1;
		t.bytes = (uint8_t)a64_simd_bytes(w);
	} else if (opc >= 2) {
		t.sign = opc == 2 ? 64 : 32;
	}
	return t;
}

/* append the address Rn + imm; returns the operand that holds it */
static unsigned a64_address(struct lifter *l, uint64_t imm)
{
	unsigned rn = a64_rn(l->w);

	l->width = 64;
	if (imm == 0)
		return rn;
	a64_put(l, UOP_ADD, UOP_TMP0, rn, UOP_IMM, imm);
	return UOP_TMP0;
}

/* append the update of the base Rn: it becomes addr + imm */
static void a64_update(struct lifter *l, unsigned addr, uint64_t imm)
{
	unsigned rn = a64_rn(l->w);

	l->width = 64;
	if (imm)
		a64_put(l, UOP_ADD, rn, addr, UOP_IMM, imm);
	else if (addr != rn)
		a64_copy(l, rn, addr, 0);
	else /* an update by 0 */
		a64_put(l, UOP_COPY, rn, rn, UOP_NONE, 0);
}

/* append the address Rn + extended Rm, scaled by the access's size */
static unsigned a64_address_reg(struct lifter *l, unsigned bytes)
{
	bool scaled = a64_bit(l->w, 12);
	unsigned b;

	l->width = 64;
	b = a64_extended(l, a64_bits(l->w, 15, 13),
			 scaled ? (unsigned)__builtin_ctz(bytes) : 0);
	if (b == UOP_IMM)
		return a64_rn(l->w);
	a64_put(l, UOP_ADD, UOP_TMP0, a64_rn(l->w), b, 0);
	return UOP_TMP0;
}

/* a load or store of one register; ldapur has only the offset in bits 20:12 */
static void a64_lift_single(struct lifter *l)
{
	uint32_t w = l->w;
	struct transfer t = a64_transfer_kind(w);
	unsigned mode = a64_bits(w, 11, 10), addr;
	uint64_t imm9 = (uint64_t)a64_sbits(w, 20, 12);
	bool post = false, pre = false;

	if (a64_bits(w, 29, 28) == 3 && a64_bit(w, 24)) {
		addr = a64_address(l, (uint64_t)a64_bits(w, 21, 10) * t.bytes);
	} else if (a64_bit(w, 21)) {
		addr = a64_address_reg(l, t.bytes);
	} else {
		post = mode == 1;
		pre = mode == 3;
		addr = a64_address(l, post ? 0 : imm9);
	}
	a64_move(l, &t, a64_rd(w), addr);
	if (post || pre)
		a64_update(l, addr, post ? imm9 : 0);
}

/* ldp stp ldpsw stgp: both addresses are computed before the first load */
static void a64_lift_pair(struct lifter *l)
{
	uint32_t w = l->w;
	unsigned opc = w >> 30, type = a64_bits(w, 24, 23), addr;
	bool simd = a64_bit(w, 26), load = a64_bit(w, 22);
	bool tagged = opc == 1 && !simd && !load;
	struct transfer t = { .load = load, .simd = simd };
	uint64_t imm;

	t.bytes = simd ? 4u << opc : opc == 2 || tagged ? 8 : 4;
	t.sign = opc == 1 && !simd && load ? 64 : 0;
	imm = (uint64_t)a64_sbits(w, 21, 15) * (tagged ? 16 : t.bytes);
	addr = a64_address(l, type == 1 ? 0 : imm);
	if (!load || !simd)
		a64_put(l, UOP_ADD, UOP_TMP1, addr, UOP_IMM, t.bytes);
	a64_move(l, &t, a64_rd(w), addr);
	a64_move(l, &t, a64_ra(w), UOP_TMP1);
	if (type & 1)
		a64_update(l, addr, type == 1 ? imm : 0);
}

/* the accesses at Rn without offset: exclusive, ordered, cas, ldadd, swp */
static void a64_lift_at_base(struct lifter *l)
{
	const struct insn *in = l->in;
	struct transfer t = { .load = in->mem_read != 0,
			      .bytes = (uint8_t)(in->mem_read | in->mem_write) };
	bool pair = in->mem_class == MEM_EXCL_LOAD && a64_bit(l->w, 21);

	if (in->mem_class == MEM_ATOMIC || in->mem_class == MEM_EXCL_STORE) {
		a64_generic_at(l, a64_rn(l->w));
		return;
	}
	l->width = 64;
	if (!pair) {
		a64_move(l, &t, a64_rd(l->w), a64_rn(l->w));
		return;
	}
	t.bytes /= 2;
	a64_copy(l, UOP_TMP0, a64_rn(l->w), 0);
	a64_put(l, UOP_ADD, UOP_TMP1, UOP_TMP0, UOP_IMM, t.bytes);
	a64_move(l, &t, a64_rd(l->w), UOP_TMP0);
	a64_move(l, &t, a64_ra(l->w), UOP_TMP1);
}

/* ld1-ld4 st1-st4: at Rn, which may be updated by Rm or by the size */
static void a64_lift_structure(struct lifter *l)
{
	unsigned rn = a64_rn(l->w), rm = a64_rm(l->w);
	unsigned bytes = l->in->mem_read | l->in->mem_write;

	l->width = 64;
	if (l->in->mem_write)
		a64_store(l, rn, UOP_NONE, bytes);
	if (!a64_bit(l->w, 23))
		return;
	a64_put(l, UOP_ADD, rn, rn, rm == 31 ? UOP_IMM : rm,
		rm == 31 ? bytes : 0);
}

/* ldr literal */
static void a64_lift_literal(struct lifter *l)
{
	unsigned opc = l->w >> 30;
	struct transfer t = { .load = true,
			      .simd = a64_bit(l->w, 26),
			      .bytes = l->in->ref_size,
			      .sign = opc == 2 ? 64 : 0 };

	if (opc != 3)
		a64_move(l, &t, a64_rd(l->w), UOP_IMM);
}

/* is w an access that a64_lift_single() understands? prfm is not */
static bool a64_is_single(uint32_t w)
{
	unsigned mode = a64_bits(w, 11, 10);

	if ((w & 0xc4c00000) == 0xc0800000)
		return false;
	if (a64_bits(w, 29, 28) == 3)
		return a64_bit(w, 24) || !a64_bit(w, 21) || mode == 2;
	/* ldapur stlur */
	return a64_bits(w, 29, 28) == 1 && a64_bit(w, 24) && !a64_bit(w, 21) &&
	       mode == (a64_bit(w, 26) ? 2 : 0);
}

/* loads and stores */
static void a64_lift_memory(struct lifter *l)
{
	uint32_t w = l->w;
	bool simd = a64_bit(w, 26);
	uint16_t bytes = l->in->mem_read | l->in->mem_write;

	switch (a64_bits(w, 29, 28)) {
	case 0:
		if (simd)
			a64_lift_structure(l);
		else
			a64_lift_at_base(l);
		return;
	case 1:
		if (!a64_bit(w, 24))
			a64_lift_literal(l);
		else if (a64_is_single(w))
			a64_lift_single(l);
		else
			a64_generic(l);
		return;
	case 2:
		a64_lift_pair(l);
		return;
	default:
		if (a64_is_single(w))
			a64_lift_single(l);
		else if (a64_bits(w, 11, 10) == 0 && bytes && bytes <= 8)
			a64_lift_at_base(l);
		else
			a64_generic(l);
	}
}

/* append a branch when cond holds for the flags in `flags` */
static void a64_branch_on(struct lifter *l, unsigned flags, unsigned cond)
{
	l->width = 64;
	a64_put(l, UOP_BRANCH, UOP_NONE, flags, UOP_NONE, 0)->cond =
		(uint8_t)cond;
}

/* conditional branches: by flags, or by a comparison of their own */
static void a64_lift_cond_branch(struct lifter *l)
{
	uint32_t w = l->w;
	unsigned rt = a64_src(a64_rd(w)), bit;

	if (a64_bits(w, 30, 26) == 0x15) { /* b.cond */
		a64_branch_on(l, UOP_FLAGS, l->in->cond);
		return;
	}
	if (a64_bits(w, 30, 25) == 0x1b) { /* tbz tbnz */
		bit = a64_bits(w, 23, 19) | (w >> 31) << 5;
		l->width = 64;
		a64_put(l, UOP_TEST, UOP_TMP0, rt, UOP_IMM, UINT64_C(1) << bit);
	} else if (a64_bits(w, 30, 25) == 0x1a) { /* cbz cbnz */
		a64_put(l, UOP_CMP, UOP_TMP0, rt, UOP_IMM, 0);
	} else if (a64_bit(w, 24)) { /* cb<cc> immediate */
		a64_put(l, UOP_CMP, UOP_TMP0, rt, UOP_IMM,
			a64_bits(w, 20, 15));
	} else { /* cb<cc> of words, bytes, halves */
		if (a64_bit(w, 15))
			l->width = a64_bit(w, 14) ? 16 : 8;
		a64_put(l, UOP_CMP, UOP_TMP0, rt, a64_src(a64_rm(w)), 0);
	}
	a64_branch_on(l, UOP_TMP0, l->in->cond);
}

/*
 * br blr, and their authenticated forms: those jump to what is left of the
 * pointer after authentication, which is not told
 */
static void a64_lift_branch_reg(struct lifter *l)
{
	unsigned rn = a64_rn(l->w), target = a64_src(rn);

	l->width = 64;
	if (a64_bit(l->w, 11)) {
		target = UOP_TMP0;
		a64_other(l, target);
	} else if (l->in->writes & a64_x(rn)) { /* blr x30 */
		target = UOP_TMP0;
		a64_copy(l, target, rn, 0);
	}
	a64_generic(l);
	a64_put(l, UOP_JUMP, UOP_NONE, target, UOP_NONE, 0);
}

/* branches, exceptions and system instructions */
static void a64_lift_branch(struct lifter *l)
{
	switch (l->in->kind) {
	case INSN_COND:
		a64_lift_cond_branch(l);
		return;
	case INSN_IJUMP:
	case INSN_ICALL:
		a64_lift_branch_reg(l);
		return;
	default:
		a64_generic(l);
	}
}

unsigned a64_lift(const uint8_t *code, size_t avail, uint64_t addr,
		  struct uop *out)
{
	struct insn in;
	struct lifter l = { .in = &in, .out = out, .width = 64 };

	a64_decode(code, avail, addr, &in);
	if (in.kind == INSN_UNKNOWN || in.kind == INSN_BAD) {
		a64_put(&l, UOP_CLOBBER, UOP_NONE, UOP_NONE, UOP_NONE, 0);
		return l.n;
	}
	l.w = a64_word(code);
	l.width = l.w >> 31 ? 64 : 32;
	switch (a64_bits(l.w, 28, 25)) {
	case 8:
	case 9:
		a64_lift_data_imm(&l);
		break;
	case 10:
	case 11:
		a64_lift_branch(&l);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		a64_lift_memory(&l);
		break;
	case 5:
	case 13:
		a64_lift_data_reg(&l);
		break;
	default:
		a64_generic(&l);
	}
	return l.n;
}
