/*
 * a64 sve: the scalable vector extension, and the matrix extension's part
 * that its first version defines.
 *
 *	31  29   24  22    20    15     9  4  0
 *	 op 0010 g   o     Rm    k      Rn .  Rd
 *
 * As in vector.c, the classes that work on vectors and predicates alone are
 * taken whole. The classes that also hold instructions on general registers,
 * flags or memory are decoded one by one, and a word that is not found there
 * is not known. Sizes of memory accesses depend on the machine's vector
 * length and on predicates: they are open.
 */
#include "isa/a64/a64.h"

/* the index registers w12 to w15 that tile slices are selected by */
static regset a64_slice_reg(unsigned field)
{
	return a64_x(12 + field);
}

/* incb and its kin: Rd is counted up or down by vector elements */
static void a64_read_write_rd(uint32_t w, struct insn *in)
{
	in->reads |= a64_x(a64_rd(w));
	in->writes |= a64_x(a64_rd(w));
}

/*
 * addvl addpl    0000 0100 0p1 Rn 0101 s imm6 Rd    s: streaming length
 * rdvl           0000 0100 101 11111 0101 s imm6 Rd
 */
static bool a64_sve_stack(uint32_t w, struct insn *in)
{
	in->vector = false;
	if (a64_bit(w, 23)) {
		in->writes = a64_x(a64_rd(w));
		return !a64_bit(w, 22) && a64_rm(w) == 31;
	}
	in->reads = a64_xsp(a64_rm(w));
	in->writes = a64_xsp(a64_rd(w));
	return true;
}

/*
 * cntb incb sqincb ...    0000 0100 size 1 b imm4 k pattern Rd
 */
static bool a64_sve_count(uint32_t w, struct insn *in)
{
	bool b = a64_bit(w, 20);

	switch (a64_bits(w, 13, 12)) {
	case 0: /* of vectors: sqinch; inch has b */
		return a64_bits(w, 23, 22) && (!b || !a64_bit(w, 11));
	case 2: /* cntb; incb decb have b */
		in->vector = false;
		if (a64_bit(w, 11) || (!b && a64_bit(w, 10)))
			return false;
		in->writes = a64_x(a64_rd(w));
		if (b)
			in->reads = in->writes;
		return true;
	case 3: /* sqincb uqincb sqdecb uqdecb */
		in->vector = false;
		a64_read_write_rd(w, in);
		return true;
	default:
		return false;
	}
}

/* op 0, g 0: integer arithmetic, index, element counts */
static bool a64_sve_integer(uint32_t w, struct insn *in)
{
	if (!a64_bit(w, 21))
		return true;
	switch (a64_bits(w, 15, 12)) {
	case 4: /* index, from immediates or registers */
		if (a64_bit(w, 10))
			in->reads |= a64_x(a64_rn(w));
		if (a64_bit(w, 11))
			in->reads |= a64_x(a64_rm(w));
		return true;
	case 5:
		return a64_sve_stack(w, in);
	case 12 ... 15:
		return a64_sve_count(w, in);
	default:
		return true;
	}
}

/* op 0, g 1: permutes, with moves from and to general registers */
static bool a64_sve_permute(uint32_t w, struct insn *in)
{
	unsigned op = a64_bits(w, 20, 16);

	if (!a64_bit(w, 21))
		return true;
	if (a64_bits(w, 15, 10) == 14) {
		if (op == 0) /* dup */
			in->reads = a64_xsp(a64_rn(w));
		else if (op == 4) /* insr */
			in->reads = a64_x(a64_rn(w));
		return true;
	}
	if (a64_bits(w, 15, 13) != 5)
		return true;
	switch (op) {
	case 0: /* lasta lastb */
	case 1:
		in->writes = a64_x(a64_rd(w));
		return true;
	case 8: /* cpy */
		in->reads = a64_xsp(a64_rn(w));
		return true;
	case 16: /* clasta clastb */
	case 17:
		a64_read_write_rd(w, in);
		return true;
	default:
		return false;
	}
}

/*
 * while..       0010 0101 size 1 Rm 000 x u l Rn e Pd
 * ctermeq ne    0010 0101 1 x 1 Rm 001000 Rn n 0000
 * whilewr rw    0010 0101 size 1 Rm 001100 Rn r Pd
 */
static bool a64_sve_compare_scalars(uint32_t w, struct insn *in)
{
	unsigned k = a64_bits(w, 15, 10);

	in->reads = a64_x(a64_rn(w)) | a64_x(a64_rm(w));
	in->flags_written = A64_NZCV;
	if (k == 8) { /* terminate, or V = not C */
		in->vector = false;
		in->flags_read = FLAG_C;
		in->flags_written = FLAG_N | FLAG_V;
		return a64_bit(w, 23) && !(w & 15);
	}
	return k < 8 || k == 12;
}

/*
 * psel               0010 0101 i t 1 t Rv 01 Pn 0 Pm 0 Pd     t is not 0
 * while.. (pairs)    0010 0101 size 1 Rm 010 . . . Rn 1 ...
 */
static bool a64_sve_select_predicate(uint32_t w, struct insn *in)
{
	if (a64_bit(w, 4)) {
		in->reads = a64_x(a64_rn(w)) | a64_x(a64_rm(w));
		in->flags_written = A64_NZCV;
		return !a64_bit(w, 13);
	}
	in->reads = a64_slice_reg(a64_bits(w, 17, 16));
	return !a64_bit(w, 9) && (a64_bit(w, 22) || a64_bits(w, 20, 18));
}

/*
 * incp decp      0010 0101 size 101 10d 1000 r 00 Pm Rd    r: Rd is general
 * sqincp ...     0010 0101 size 101 0du 1000 r x0 Pm Rd
 * wrffr          0010 0101 00 101 000 1001 000 Pn 00000
 * setffr         0010 0101 00 101 100 1001 0000 0000 0000
 */
static bool a64_sve_increment(uint32_t w, struct insn *in)
{
	bool general = a64_bit(w, 11), saturates = !a64_bit(w, 18);

	if (a64_bits(w, 15, 12) == 9)
		return (w & 0xfffffe1f) == 0x25289000 || w == 0x252c9000;
	if (a64_bits(w, 15, 12) != 8 || a64_bit(w, 9))
		return false;
	if (!saturates && (a64_bit(w, 17) || a64_bit(w, 10)))
		return false;
	if (general)
		a64_read_write_rd(w, in);
	return general || (a64_bits(w, 23, 22) && !a64_bit(w, 10));
}

/*
 * cntp    0010 0101 size 100 000 10 Pg 0 Pn Rd
 *         0010 0101 size 100 000 10 000 v 1 Pn Rd
 */
static bool a64_sve_count_predicate(uint32_t w, struct insn *in)
{
	in->writes = a64_x(a64_rd(w));
	return a64_bits(w, 18, 16) == 0 &&
	       (!a64_bit(w, 9) || a64_bits(w, 13, 11) == 0);
}

/* operations on predicates, and where their bit S is that asks for flags */
enum { NEVER = 32, ALWAYS, HOLE };

static const struct {
	uint32_t mask, value;
	uint8_t s;
} a64_predicate_ops[] = {
	{0xfff0c210, 0x25404210, HOLE},   /* sel has no S */
	{0xff30c000, 0x25004000, 22},     /* and bic eor orr orn nor nand */
	{0xffb0c200, 0x2500c000, 22},     /* brkpa brkpb */
	{0xff7fc200, 0x25104000, NEVER},  /* brka brkb */
	{0xff7fc210, 0x25504000, ALWAYS}, /* brkas brkbs */
	{0xffbfc210, 0x25184000, 22},     /* brkn */
	{0xffffc21f, 0x2550c000, ALWAYS}, /* ptest */
	{0xfffffe10, 0x2558c000, ALWAYS}, /* pfirst */
	{0xff3ffe10, 0x2519c400, ALWAYS}, /* pnext */
	{0xff3efc10, 0x2518e000, 16},     /* ptrue */
	{0xfffffff0, 0x2518e400, NEVER},  /* pfalse */
	{0xffbffe10, 0x2518f000, 22},     /* rdffr */
	{0xfffffff0, 0x2519f000, NEVER},  /* rdffr, unpredicated */
};

/* op 1, g 1, bit 21 = 0: operations on predicates, compare with immediate */
static bool a64_sve_predicate_op(uint32_t w, struct insn *in)
{
	size_t n = sizeof(a64_predicate_ops) / sizeof(a64_predicate_ops[0]);

	if (!a64_bit(w, 14)) {
		in->flags_written = A64_NZCV;
		return a64_bits(w, 15, 13) != 5;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned s = a64_predicate_ops[i].s;

		if ((w & a64_predicate_ops[i].mask) !=
		    a64_predicate_ops[i].value)
			continue;
		if (s == ALWAYS || (s < NEVER && a64_bit(w, s)))
			in->flags_written = A64_NZCV;
		return s != HOLE;
	}
	return false;
}

/* op 1: comparisons and predicates */
static bool a64_sve_predicate(uint32_t w, struct insn *in)
{
	if (!a64_bit(w, 24)) { /* no comparison of 64 bits with wide ones */
		in->flags_written = A64_NZCV;
		return a64_bit(w, 21) || a64_bits(w, 23, 22) != 3 ||
		       a64_bits(w, 15, 13) == 0 || a64_bits(w, 15, 14) == 2;
	}
	if (!a64_bit(w, 21))
		return a64_sve_predicate_op(w, in);
	switch (a64_bits(w, 15, 14)) {
	case 0:
		return a64_sve_compare_scalars(w, in);
	case 1:
		return a64_sve_select_predicate(w, in);
	case 2:
		if (a64_bit(w, 20))
			return false;
		return a64_bit(w, 19) ? a64_sve_increment(w, in)
				      : a64_sve_count_predicate(w, in);
	default:
		return true;
	}
}

/* a load whose address takes the general registers `regs` */
static bool a64_sve_load(struct insn *in, regset regs)
{
	in->mem_read = MEM_SIZE_UNKNOWN;
	in->reads = regs;
	return true;
}

/* a store whose address takes the general registers `regs` */
static bool a64_sve_store(struct insn *in, regset regs)
{
	in->mem_write = MEM_SIZE_UNKNOWN;
	in->reads = regs;
	return true;
}

/* a prefetch whose address takes the general registers `regs` */
static bool a64_sve_prefetch(uint32_t w, struct insn *in, regset regs)
{
	in->reads = regs;
	return !a64_bit(w, 4);
}

/*
 * op 4: gathers of 32-bit elements, broadcasts, ldr, prefetches
 *
 *	1000 010 m o Rm k Pg Rn Zt
 *
 * Elements of the full 32 bits (m = 2) have no signed form (U, bit 14).
 */
static bool a64_sve_gather32(uint32_t w, struct insn *in)
{
	unsigned m = a64_bits(w, 24, 23), o = a64_bits(w, 22, 21);
	unsigned k = a64_bits(w, 15, 13);
	regset rn = a64_xsp(a64_rn(w)), rm = a64_x(a64_rm(w));
	bool sized = m < 2 || (m == 2 && a64_bit(w, 14));

	if (k < 4 && m == 3) {
		if (o >= 2)
			return a64_sve_prefetch(w, in, rn);
		if (k == 0 && a64_bit(w, 4))
			return false;
		return (k == 0 || k == 2) && a64_sve_load(in, rn);
	}
	if (k < 4 && m == 0 && (o & 1))
		return a64_sve_prefetch(w, in, rn);
	if (k < 4)
		return sized && a64_sve_load(in, rn);
	if (o >= 2) /* ld1r */
		return a64_sve_load(in, rn);
	if (o == 1) /* addresses in a vector */
		return sized && a64_sve_load(in, 0);
	if (k == 6)
		return rm && a64_sve_prefetch(w, in, rn | rm);
	if (k == 7)
		return a64_sve_prefetch(w, in, 0);
	/* ldnt1: here U is bit 13 */
	return (m < 2 || (m == 2 && k == 5)) && a64_sve_load(in, rm);
}

/* op 5: loads of consecutive elements   1010 010 m o Rm k Pg Rn Zt */
static bool a64_sve_contiguous(uint32_t w, struct insn *in)
{
	regset rn = a64_xsp(a64_rn(w)), rm = a64_x(a64_rm(w));
	bool i = a64_bit(w, 20);

	switch (a64_bits(w, 15, 13)) {
	case 0: /* ld1rq ld1ro */
		return !a64_bit(w, 22) && rm && a64_sve_load(in, rn | rm);
	case 1:
		return !a64_bit(w, 22) && !i && a64_sve_load(in, rn);
	case 2: /* ld1 */
	case 6: /* ldnt1 ld2 ld3 ld4 */
		return rm && a64_sve_load(in, rn | rm);
	case 3: /* ldff1 */
		return a64_sve_load(in, rn | rm);
	case 5: /* ld1, ldnf1 by an immediate */
		return a64_sve_load(in, rn);
	case 7: /* ldnt1 ld2 ld3 ld4 by an immediate */
		return !i && a64_sve_load(in, rn);
	default:
		return false;
	}
}

/* op 6: gathers of 64-bit elements   1100 010 m o Rm k Pg Rn Zt */
static bool a64_sve_gather64(uint32_t w, struct insn *in)
{
	unsigned m = a64_bits(w, 24, 23), o = a64_bits(w, 22, 21);
	unsigned k = a64_bits(w, 15, 13);
	regset rn = a64_xsp(a64_rn(w)), rm = a64_x(a64_rm(w));
	bool sized = m < 3 || a64_bit(w, 14);

	if (k < 4 || o >= 2) { /* base and vector of offsets */
		if (m == 0 && (o == 3 || (o == 1 && k < 4)))
			return a64_sve_prefetch(w, in, rn);
		return sized && a64_sve_load(in, rn);
	}
	if (o == 1) /* addresses in a vector */
		return sized && a64_sve_load(in, 0);
	if (k == 7)
		return a64_sve_prefetch(w, in, 0);
	return k != 5 && sized && a64_sve_load(in, rm); /* ldnt1 */
}

/* op 7: stores   1110 010 m o Rm k Pg Rn Zt */
static bool a64_sve_stores(uint32_t w, struct insn *in)
{
	unsigned m = a64_bits(w, 24, 23), o = a64_bits(w, 22, 21);
	regset rn = a64_xsp(a64_rn(w)), rm = a64_x(a64_rm(w));
	bool str = a64_bits(w, 24, 22) == 6;

	switch (a64_bits(w, 15, 13)) {
	case 0: /* str, of a predicate */
		return str && !a64_bit(w, 4) && a64_sve_store(in, rn);
	case 1: /* stnt1, by a vector and a register */
		return (o == 0 || (o == 2 && m < 3)) && a64_sve_store(in, rm);
	case 2: /* str of a vector, st1 */
		if (str)
			return a64_sve_store(in, rn);
		return o >= m && rm && a64_sve_store(in, rn | rm);
	case 3: /* stnt1 st2 st3 st4 */
		return rm && a64_sve_store(in, rn | rm);
	case 5:
		if (o >= 2) /* addresses in a vector */
			return (o == 2 || m < 3) && a64_sve_store(in, 0);
		return (o == 0 || m) && a64_sve_store(in, rn);
	case 7: /* by an immediate */
		return (a64_bit(w, 20) || o >= m) && a64_sve_store(in, rn);
	default: /* base and vector of 32-bit offsets */
		if ((o & 1) && !m)
			return false;
		return (o < 2 || m < 3) && a64_sve_store(in, rn);
	}
}

bool a64_sve_vector_base(uint32_t w)
{
	unsigned o = a64_bits(w, 22, 21), k = a64_bits(w, 15, 13);

	switch (w >> 29) {
	case 4:
	case 6:
		return k >= 4 && o < 2;
	case 7:
		return k == 1 || (k == 5 && o >= 2);
	default:
		return false;
	}
}

/* the groups of the scalable vector extension, by bits 31:29 */
static bool a64_sve_group(uint32_t w, struct insn *in)
{
	switch (w >> 29) {
	case 0:
		return a64_bit(w, 24) ? a64_sve_permute(w, in)
				      : a64_sve_integer(w, in);
	case 1:
		return a64_sve_predicate(w, in);
	case 2: /* match nmatch set flags; the rest use only vectors */
		if ((w & 0xff20e000) == 0x45208000)
			in->flags_written = A64_NZCV;
		return true;
	case 3:
		return true;
	case 4:
		return a64_sve_gather32(w, in);
	case 5:
		return a64_sve_contiguous(w, in);
	case 6:
		return a64_sve_gather64(w, in);
	default:
		return a64_sve_stores(w, in);
	}
}

/* the scalable vector extension: bits 28:25 = 0010 */
bool a64_sve(uint32_t w, struct insn *in)
{
	bool known;

	in->vector = true;
	known = a64_sve_group(w, in);
	/* but for counts, lengths and loop ends in general registers */
	in->packed = in->vector;
	in->fp = a64_sve_is_fp(w);
	return known;
}

/*
 * ld1 st1 of tile slices    1110 0000 size s Rm V Rv Pg Rn 0 ZAt
 *                           1110 0001 11   s Rm V Rv Pg Rn 0 ZAt
 * ldr str of tile rows      1110 0001 00   s 000000 Rv 000 Rn 0 imm4
 */
static bool a64_sme_memory(uint32_t w, struct insn *in)
{
	regset regs = a64_xsp(a64_rn(w)) | a64_slice_reg(a64_bits(w, 14, 13));

	if (a64_bit(w, 4))
		return false;
	if (!a64_bit(w, 24) || a64_bits(w, 23, 22) == 3)
		regs |= a64_x(a64_rm(w));
	else if (a64_bits(w, 23, 22) || a64_bits(w, 20, 15) ||
		 a64_bits(w, 12, 10))
		return false;
	return a64_bit(w, 21) ? a64_sve_store(in, regs)
			      : a64_sve_load(in, regs);
}

/*
 * mova     1100 0000 size 0000 d q V Rv Pg ...
 * zero     1100 0000 0000 1000 0000 0000 mask
 * addha    1100 0000 1 s 0100 0 v Pm Pn Zn 00 ZAd
 */
static bool a64_sme_move(uint32_t w, struct insn *in)
{
	if ((w & 0xff3c0000) == 0xc0000000) {
		in->reads = a64_slice_reg(a64_bits(w, 14, 13));
		return (!a64_bit(w, 16) || a64_bits(w, 23, 22) == 3) &&
		       !a64_bit(w, a64_bit(w, 17) ? 9 : 4);
	}
	return (w & 0xffffff00) == 0xc0080000 ||
	       (w & 0xfffe001c) == 0xc0900000 || (w & 0xfffe0018) == 0xc0d00000;
}

/*
 * outer products    1o00 000p 1dq Zm Pm Pn Zn S tile
 *
 * o: integers; d: into tiles of 64 bits, of which there are 8 (tile has 3
 * bits), not 4; q and p: the type, where no type of floating point has q at
 * 64 bits or p:q = 01.
 */
static bool a64_sme_product(uint32_t w)
{
	bool wide = a64_bit(w, 22);

	if (!a64_bit(w, 23) || a64_bit(w, 3) || (!wide && a64_bit(w, 2)))
		return false;
	if (a64_bit(w, 29))
		return true;
	return wide ? !a64_bit(w, 24) && !a64_bit(w, 21)
		    : a64_bit(w, 24) || !a64_bit(w, 21);
}

/* the matrix extension: bit 31 set, bits 28:25 = 0000 */
bool a64_sme(uint32_t w, struct insn *in)
{
	in->vector = in->packed = true;
	switch (a64_bits(w, 30, 29)) {
	case 0: /* SME2 fills the rest */
		in->fp = true;
		return a64_sme_product(w);
	case 1:
		return a64_sme_product(w);
	case 2:
		return a64_sme_move(w, in);
	default:
		return a64_sme_memory(w, in);
	}
}
