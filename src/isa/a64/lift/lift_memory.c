/*
 * a64 lift_memory: loads and stores as micro-operations.
 *
 * Fields as in memory.c. Every access of general registers is modelled exactly;
 * of SIMD registers, the address and size of stores and the update of the
 * base. A store-exclusive and an atomic operation store something unknown.
 * Tag instructions, memory copies and ldraa are known by decode() alone.
 */
#include "isa/a64/lift/lift.h"

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
	struct transfer t = {.load = opc != 0, .bytes = 1 << (w >> 30)};

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
	else
		a64_copy(l, rn, addr, 0);
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
	struct transfer t = {.load = load, .simd = simd};
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
	uint8_t bytes = (uint8_t)(in->mem_read | in->mem_write);
	struct transfer t = {.load = in->mem_read != 0, .bytes = bytes};
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
	struct transfer t = {.load = true,
			     .simd = a64_bit(l->w, 26),
			     .bytes = l->in->ref_size,
			     .sign = opc == 2 ? 64 : 0};

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
void a64_lift_memory(struct lifter *l)
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
