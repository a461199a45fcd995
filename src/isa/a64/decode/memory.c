/*
 * a64 memory: loads and stores of general and SIMD registers.
 *
 * An access is described by the set of transferred registers, which way it
 * goes and how many bytes; the base Rn (9:5, 31 is sp) is always read, and
 * written too when the instruction updates it. Tags of memory (MTE) are not
 * memory: of the instructions that move them, only those that zero or store
 * data as well are accesses. A store-exclusive counts as a write, whether it
 * succeeds or not.
 */
#include "isa/a64/a64.h"

enum { TAG_GRANULE = 16, BLOCK_BYTES = 64 };

/* note an access of `bytes` at a base in Rn that is updated if `writeback` */
static void a64_access(uint32_t w, struct insn *in, bool load, unsigned bytes,
		       bool writeback)
{
	in->mem_read = load ? (uint16_t)bytes : 0;
	in->mem_write = load ? 0 : (uint16_t)bytes;
	in->reads |= a64_xsp(a64_rn(w));
	in->writes |= writeback ? a64_xsp(a64_rn(w)) : 0;
}

/* note that the general registers `regs` are loaded or stored */
static void a64_transfer(struct insn *in, bool load, regset regs)
{
	in->writes |= load ? regs : 0;
	in->reads |= load ? 0 : regs;
}

/*
 * stxr ldxr stxp ldxp stlr ldar cas casp
 *	size 00 1000 o2 L o1 Rs o0 Rt2 Rn Rt
 */
bool a64_exclusive(uint32_t w, struct insn *in)
{
	unsigned size = w >> 30, bytes = 1u << size;
	bool load = a64_bit(w, 22), pair = a64_bit(w, 21);
	regset rs = a64_x(a64_rm(w)), rt = a64_x(a64_rd(w));

	if (a64_bit(w, 23) && pair) { /* cas */
		a64_access(w, in, true, bytes, false);
		in->mem_write = in->mem_read;
		in->mem_class = MEM_ATOMIC;
		in->reads |= rs | rt;
		in->writes = rs;
		return a64_ra(w) == 31;
	}
	if (a64_bit(w, 23)) { /* stlr ldar stllr ldlar */
		a64_access(w, in, load, bytes, false);
		a64_transfer(in, load, rt);
		in->mem_class = MEM_ORDERED;
		return true;
	}
	if (pair && size < 2) { /* casp: two even-odd pairs */
		rs |= a64_x(a64_rm(w) | 1);
		rt |= a64_x(a64_rd(w) | 1);
		a64_access(w, in, true, 8u << size, false);
		in->mem_write = in->mem_read;
		in->mem_class = MEM_ATOMIC;
		in->reads |= rs | rt;
		in->writes = rs;
		return a64_ra(w) == 31 && !a64_bit(w, 0) && !a64_bit(w, 16);
	}
	if (pair) {
		rt |= a64_x(a64_ra(w));
		bytes *= 2;
	}
	a64_access(w, in, load, bytes, false);
	a64_transfer(in, load, rt);
	in->mem_class = load ? MEM_EXCL_LOAD : MEM_EXCL_STORE;
	if (!load)
		in->writes |= rs;
	return true;
}

/*
 * ldr literal    opc 01 1 V 00 imm19 Rt     V=0: w x ldrsw prfm; V=1: s d q
 */
bool a64_literal(uint32_t w, struct insn *in)
{
	static const uint8_t sizes[2][4] = {{4, 8, 4, 0}, {4, 8, 16, 0}};
	unsigned opc = w >> 30;
	bool simd = a64_bit(w, 26);

	in->ref = in->addr + 4 * (uint64_t)a64_sbits(w, 23, 5);
	in->ref_kind = REF_LOAD;
	in->ref_size = sizes[simd][opc];
	in->mem_read = in->ref_size;
	in->vector = simd;
	in->packed = simd && opc == 2;
	if (opc == 3) {
		in->ref_kind = REF_HINT;
		return !simd;
	}
	if (!simd)
		in->writes = a64_x(a64_rd(w));
	return true;
}

/*
 * ldp stp    opc 10 1 V type L imm7 Rt2 Rn Rt
 *
 * type: 0 no-allocate, 1 post-index, 2 offset, 3 pre-index
 */
bool a64_pair(uint32_t w, struct insn *in)
{
	unsigned opc = w >> 30, type = a64_bits(w, 24, 23);
	bool load = a64_bit(w, 22), writeback = type & 1;
	regset pair = a64_x(a64_rd(w)) | a64_x(a64_ra(w));

	if (opc == 3)
		return false;
	if (a64_bit(w, 26)) {
		in->vector = true;
		in->packed = opc == 2;
		a64_access(w, in, load, 8u << opc, writeback);
		return true;
	}
	if (opc == 1 && !load) { /* stgp: a pair of x, and the tag */
		a64_access(w, in, false, TAG_GRANULE, writeback);
		in->reads |= pair;
		return type != 0;
	}
	a64_access(w, in, load, opc == 2 ? 16 : 8, writeback);
	a64_transfer(in, load, pair);
	return opc != 1 || type != 0;
}

unsigned a64_simd_bytes(uint32_t w)
{
	return 1u << (a64_bits(w, 31, 30) | (uint32_t)a64_bit(w, 23) << 2);
}

/*
 * The size and opc fields of a single-register access:
 *
 *	size 1 1 V x x opc ...
 *	V=0  opc 0 store, 1 load, 2 load signed to x, 3 to w; size 3 opc 2 prfm
 *	V=1  opc<0> load; opc<1> with size 0: the 16-byte q
 *
 * `hint` tells whether prfm exists in this addressing mode.
 */
static inline bool a64_single(uint32_t w, struct insn *in, bool writeback,
			      bool hint)
{
	unsigned size = w >> 30, opc = a64_bits(w, 23, 22);
	bool load = opc != 0;

	if (a64_bit(w, 26)) {
		in->vector = true;
		in->packed = a64_simd_bytes(w) == 16;
		a64_access(w, in, opc & 1, a64_simd_bytes(w), writeback);
		return opc < 2 || size == 0;
	}
	if (size == 3 && opc == 2) {
		in->reads |= a64_xsp(a64_rn(w));
		return hint;
	}
	a64_access(w, in, load, 1u << size, writeback);
	a64_transfer(in, load, a64_x(a64_rd(w)));
	return opc < 2 || size + (opc & 1) < 3;
}

/*
 * ld64b st64b st64bv st64bv0    11 11 1000 001 Rs opc 00 Rn Rt
 *
 * Eight registers from Rt on, which must be even and at most 22.
 */
static bool a64_block(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 14, 12), rt = a64_rd(w);
	bool load = opc == 5;

	if (w >> 30 != 3 || a64_bits(w, 23, 22) || rt % 2 || rt > 22)
		return false;
	a64_access(w, in, load, BLOCK_BYTES, false);
	a64_transfer(in, load, (regset)0xff << rt);
	if (opc == 2 || opc == 3) {
		in->writes |= a64_x(a64_rm(w));
		return true;
	}
	return a64_rm(w) == 31;
}

/*
 * ldadd ldclr ldeor ldset ld{s,u}{max,min} swp ldapr
 *	size 11 1 0 00 A R 1 Rs o3 opc 00 Rn Rt
 */
static bool a64_atomic(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 15, 12), bytes = 1u << (w >> 30);

	if (a64_bit(w, 26))
		return false;
	if (opc == 12) { /* ldapr */
		a64_access(w, in, true, bytes, false);
		in->writes |= a64_x(a64_rd(w));
		in->mem_class = MEM_ORDERED;
		return a64_bits(w, 23, 22) == 2 && a64_rm(w) == 31;
	}
	if (opc >= 9 && opc <= 13)
		return a64_block(w, in);
	if (opc > 13)
		return false;
	a64_access(w, in, true, bytes, false);
	in->mem_write = in->mem_read;
	in->mem_class = MEM_ATOMIC;
	in->reads |= a64_x(a64_rm(w));
	in->writes |= a64_x(a64_rd(w));
	return true;
}

/*
 * ldr str    size 11 1 V 01 opc imm12 Rn Rt
 */
bool a64_offset(uint32_t w, struct insn *in)
{
	return a64_single(w, in, false, true);
}

/*
 * bits 29:27 = 111, bit 24 = 0:
 *	short offset       size 11 1 V 00 opc 0 imm9 mode Rn Rt
 *	    mode: 0 unscaled, 1 post-index, 2 unprivileged, 3 pre-index
 *	atomic             size 11 1 V 00 A R 1 ... 00 Rn Rt
 *	register offset    size 11 1 V 00 opc 1 Rm option S 10 Rn Rt
 *	ldraa ldrab        11 11 1 0 00 k S 1 imm9 W 1 Rn Rt
 */
bool a64_register(uint32_t w, struct insn *in)
{
	unsigned mode = a64_bits(w, 11, 10);

	if (!a64_bit(w, 21)) {
		if (mode == 2 && a64_bit(w, 26))
			return false;
		return a64_single(w, in, mode & 1, mode == 0);
	}
	if (mode == 0)
		return a64_atomic(w, in);
	if (mode == 2) {
		in->reads |= a64_x(a64_rm(w));
		return a64_bit(w, 14) && a64_single(w, in, false, true);
	}
	a64_access(w, in, true, 8, a64_bit(w, 11));
	in->writes |= a64_x(a64_rd(w));
	return w >> 30 == 3 && !a64_bit(w, 26);
}

/*
 * cpy set    00 01 1 o 01 op1 0 Rs op2 01 Rn Rd
 *
 * Three instructions run in a row: prologue, main, epilogue. The prologue
 * writes the flags, which tell the next how it chose to proceed.
 */
static bool a64_copy_set(uint32_t w, struct insn *in)
{
	unsigned stage = a64_bits(w, 23, 22);
	regset rd = a64_x(a64_rd(w)), rn = a64_x(a64_rn(w));
	regset rs = a64_x(a64_rm(w));

	in->reads = rd | rn | rs;
	in->writes = rd | rn;
	in->mem_write = MEM_SIZE_UNKNOWN;
	if (stage == 3) {
		stage = a64_bits(w, 15, 14);
	} else {
		in->writes |= rs;
		in->mem_read = MEM_SIZE_UNKNOWN;
	}
	if (stage == 0)
		in->flags_written = A64_NZCV;
	else
		in->flags_read = A64_NZCV;
	return w >> 30 == 0 && stage != 3;
}

/*
 * MTE: stg stzg st2g stz2g ldg stgm stzgm ldgm
 *	11 01 1001 opc 1 imm9 mode Rn Rt
 */
static bool a64_tag(uint32_t w, struct insn *in)
{
	unsigned opc = a64_bits(w, 23, 22), mode = a64_bits(w, 11, 10);
	unsigned granules = 1 + (opc >> 1);
	bool zeroes = opc & 1;

	if (w >> 30 != 3)
		return false;
	if (mode != 0) {
		a64_access(w, in, false, zeroes ? TAG_GRANULE * granules : 0,
			   mode & 1);
		in->reads |= a64_xsp(a64_rd(w));
		return true;
	}
	if (opc == 1) { /* ldg puts the tag into Rt and keeps the rest */
		a64_access(w, in, true, 0, false);
		in->reads |= a64_x(a64_rd(w));
		in->writes |= a64_x(a64_rd(w));
		return true;
	}
	/* stzgm zeroes as many granules as the machine likes */
	a64_access(w, in, false, opc == 0 ? MEM_SIZE_UNKNOWN : 0, false);
	a64_transfer(in, opc == 3, a64_x(a64_rd(w)));
	return a64_bits(w, 20, 12) == 0;
}

/*
 * ldapur stlur           size 01 1 0 01 opc 0 imm9 00 Rn Rt
 * ldapur stlur (SIMD)    size 01 1 1 01 opc 0 imm9 10 Rn Rt
 * ldapr stlr, indexed    1x 01 1 0 01 1L 0 000000000 10 Rn Rt
 * ldiapp stilp           1x 01 1 0 01 0L 0 Rt2 000n 10 Rn Rt   n: no update
 */
static bool a64_ordered(uint32_t w, struct insn *in)
{
	unsigned mode = a64_bits(w, 11, 10), bytes = 1u << (w >> 30);
	bool load = a64_bit(w, 22), update = !a64_bit(w, 12);
	regset pair = a64_x(a64_rd(w)) | a64_x(a64_rm(w));

	in->mem_class = MEM_ORDERED;
	if (a64_bit(w, 26))
		return mode == 2 && a64_single(w, in, false, false);
	if (mode == 0)
		return a64_single(w, in, false, false);
	if (w >> 31 == 0 || mode != 2)
		return false;
	if (a64_bit(w, 23)) {
		a64_access(w, in, load, bytes, true);
		a64_transfer(in, load, a64_x(a64_rd(w)));
		return a64_bits(w, 20, 12) == 0;
	}
	a64_access(w, in, load, 2 * bytes, update);
	a64_transfer(in, load, pair);
	return a64_bits(w, 15, 13) == 0;
}

/*
 * ld1-ld4 st1-st4, whole registers
 *	0 Q 00 1100 p L 0 Rm opcode size Rn Vt    p: post-index by Rm
 */
static bool a64_simd_multiple(uint32_t w, struct insn *in)
{
	/* registers moved, by opcode; 0 is not allocated */
	static const uint8_t counts[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2,
	};
	unsigned opcode = a64_bits(w, 15, 12), n = counts[opcode];
	bool post = a64_bit(w, 23), interleaved = !(opcode & 3);

	a64_access(w, in, a64_bit(w, 22), n * (8u << a64_bit(w, 30)), post);
	if (post)
		in->reads |= a64_x(a64_rm(w));
	else if (a64_rm(w))
		return false;
	if (interleaved && a64_bits(w, 11, 10) == 3 && !a64_bit(w, 30))
		return false;
	return n && !a64_bit(w, 21);
}

/*
 * ld1-ld4 st1-st4, one lane of each register, or ld1r-ld4r
 *	0 Q 00 1101 p L R Rm opcode S size Rn Vt
 */
static bool a64_simd_lane(uint32_t w, struct insn *in)
{
	unsigned scale = a64_bits(w, 15, 14), size = a64_bits(w, 11, 10);
	unsigned n = 2 * a64_bits(w, 13, 13) + a64_bits(w, 21, 21) + 1;
	bool load = a64_bit(w, 22), post = a64_bit(w, 23), s = a64_bit(w, 12);

	if (scale == 3) { /* replicate */
		if (!load || s)
			return false;
		scale = size;
	} else if (scale == 2 && size == 1 && !s) {
		scale = 3;
	} else if ((scale == 1 && (size & 1)) || (scale == 2 && size)) {
		return false;
	}
	a64_access(w, in, load, n << scale, post);
	if (post)
		in->reads |= a64_x(a64_rm(w));
	return post || !a64_rm(w);
}

/* loads and stores of structures: bits 29:25 = 00110 */
bool a64_simd_structures(uint32_t w, struct insn *in)
{
	in->vector = in->packed = true;
	if (w >> 31)
		return false;
	return a64_bit(w, 24) ? a64_simd_lane(w, in) : a64_simd_multiple(w, in);
}

/* bits 29:27 = 011, bit 24 = 1: tags, ordered accesses, memory copies */
bool a64_memory_misc(uint32_t w, struct insn *in)
{
	if (a64_bit(w, 21))
		return !a64_bit(w, 26) && a64_tag(w, in);
	return a64_bits(w, 11, 10) == 1 ? a64_copy_set(w, in)
					: a64_ordered(w, in);
}
