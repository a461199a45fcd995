/*
 * a64 simd: which words of Advanced SIMD and scalar floating point are
 * instructions. All of them work on vector registers alone (vector.c decodes
 * the others), so this is all that is to know about them; it tells code from
 * data.
 *
 *	vectors    0 Q U 0 111 f size ...
 *	scalars    0 1 U 1 111 f size ...
 *
 * For each class, a table by U and opcode holds the sizes that exist: bit
 * `size` of the low half for Q = 0, of the high half for Q = 1; scalars have
 * the low half only. Extensions newer than Armv9.3 (FP8, look-up tables) are
 * not in the tables.
 */
#include "isa/a64/a64.h"

/* is `size` among the sizes of a vector entry, at this Q? */
static bool a64_has(uint8_t entry, unsigned size, bool q)
{
	return entry >> (size + (q ? 4 : 0)) & 1;
}

/* are size and Q of w among those of a vector entry? */
static bool a64_has_size(uint8_t entry, uint32_t w)
{
	return a64_has(entry, a64_bits(w, 23, 22), a64_bit(w, 30));
}

/* is `size` among the sizes of a scalar entry? */
static bool a64_has_scalar_size(uint8_t entry, uint32_t w)
{
	return a64_has(entry, a64_bits(w, 23, 22), false);
}

/* three registers of one type    ... 1 Rm opcode 1 Rn Rd */
static bool a64_simd_three_same(uint32_t w)
{
	static const uint8_t sizes[2][32] = {
		{0x77, 0xf7, 0x77, 0xff, 0x77, 0xf7, 0xf7, 0xf7,
		 0xf7, 0xf7, 0xf7, 0xf7, 0x77, 0x77, 0x77, 0x77,
		 0xf7, 0xf7, 0x77, 0x77, 0x77, 0x77, 0x66, 0xf7,
		 0xf5, 0xf5, 0xf5, 0x31, 0x31, 0xff, 0xf5, 0xf5},
		{0x77, 0xf7, 0x77, 0xff, 0x77, 0xf7, 0xf7, 0xf7,
		 0xf7, 0xf7, 0xf7, 0xf7, 0x77, 0x77, 0x77, 0x77,
		 0xf7, 0xf7, 0x77, 0x11, 0x77, 0x77, 0x66, 0x00,
		 0xf5, 0xff, 0xf5, 0x31, 0xf5, 0xf5, 0xf5, 0x31},
	};

	return a64_has_size(sizes[a64_bit(w, 29)][a64_bits(w, 15, 11)], w);
}

/* three registers of different types    ... 1 Rm opcode 00 Rn Rd */
static bool a64_simd_three_different(uint32_t w)
{
	static const uint8_t sizes[2][16] = {
		{0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x66,
		 0x77, 0x66, 0x77, 0x66, 0x99, 0x00},
		{0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x00,
		 0x77, 0x00, 0x77, 0x00, 0x00, 0x00},
	};

	return a64_has_size(sizes[a64_bit(w, 29)][a64_bits(w, 15, 12)], w);
}

/*
 * one source    ... 1 kk 000 opcode 10 Rn Rd
 *
 * kk: 0 two registers, 1 AES, 2 across lanes, 3 half precision
 */
static bool a64_simd_one_source(uint32_t w)
{
	static const uint8_t sizes[4][2][32] = {
		{
			{0x77, 0x11, 0x77, 0xf7, 0x77, 0x11, 0x77, 0xf7,
			 0xf7, 0xf7, 0xf7, 0xf7, 0xc4, 0xc4, 0xc4, 0xc4,
			 0x00, 0x00, 0x77, 0x00, 0x77, 0x00, 0x77, 0x33,
			 0xf5, 0xf5, 0xf5, 0xf5, 0x75, 0xf5, 0x31, 0x31},
			{0x33, 0x00, 0x77, 0xf7, 0x77, 0x33, 0x77, 0xf7,
			 0xf7, 0xf7, 0x00, 0xf7, 0xc4, 0xc4, 0x00, 0xc4,
			 0x00, 0x00, 0x77, 0x77, 0x77, 0x00, 0x22, 0x00,
			 0x31, 0xf5, 0xf5, 0xf5, 0x75, 0xf5, 0x31, 0xf5},
		},
		{
			{[4 ... 7] = 0x10},
		},
		{
			{[3] = 0x73, [10] = 0x73, [12] = 0x55, [15] = 0x55,
			 [26] = 0x73, [27] = 0x73},
			{[3] = 0x73, [10] = 0x73, [12] = 0x50, [15] = 0x50,
			 [26] = 0x73},
		},
		{
			{[12 ... 15] = 0x88, [24 ... 27] = 0xaa, [28] = 0x22,
			 [29] = 0xaa},
			{[12 ... 13] = 0x88, [15] = 0x88, [24] = 0x22,
			 [25 ... 27] = 0xaa, [28] = 0x22, [29] = 0xaa,
			 [31] = 0x88},
		},
	};
	unsigned kind = a64_bits(w, 20, 19);

	return !a64_bits(w, 18, 17) &&
	       a64_has_size(sizes[kind][a64_bit(w, 29)][a64_bits(w, 16, 12)],
			    w);
}

/*
 * bit 21 = 0: what came later or does not fit elsewhere
 *	dot products ...    size 0 Rm 1 opcode 1
 *	half precision      x1 0 Rm 00 opcode 1
 *	zip uzp trn         size 0 Rm 0 opcode 10
 *	tbl tbx, ext        00 0 Rm 0 ... .0          (by U)
 */
static bool a64_simd_others(uint32_t w)
{
	static const uint8_t extra[2][16] = {
		{[2 ... 3] = 0x44, [4 ... 5] = 0x40},
		{0x66, 0x66, 0x44, 0x00, 0x40, 0x00, 0x00, 0x00, 0xe6, 0xe6,
		 0xe6, 0xe6, 0xe6, 0x20, 0xe6, 0xaa},
	};
	static const uint8_t half[2][8] = {
		{0xaa, 0xaa, 0xaa, 0x22, 0x22, 0x00, 0xaa, 0xaa},
		{0xaa, 0x00, 0xaa, 0x22, 0xaa, 0xaa, 0xaa, 0x22},
	};
	static const uint8_t permute[8] = {
		0x00, 0xf7, 0xf7, 0xf7, 0x00, 0xf7, 0xf7, 0xf7,
	};
	bool u = a64_bit(w, 29);

	if (a64_bit(w, 15))
		return a64_bit(w, 10) &&
		       a64_has_size(extra[u][a64_bits(w, 14, 11)], w);
	if (a64_bit(w, 10))
		return !a64_bit(w, 14) &&
		       a64_has_size(half[u][a64_bits(w, 13, 11)], w);
	if (u) /* ext: bytes from 16 only if Q */
		return !a64_bits(w, 23, 22) &&
		       (a64_bit(w, 30) || !a64_bit(w, 14));
	if (a64_bit(w, 11))
		return a64_has_size(permute[a64_bits(w, 14, 12)], w);
	return !a64_bits(w, 23, 22);
}

/* 0xx0 1110: vectors of registers; lane moves are not asked for */
static bool a64_simd_vector(uint32_t w)
{
	if (!a64_bit(w, 21))
		return a64_simd_others(w);
	if (a64_bit(w, 10))
		return a64_simd_three_same(w);
	return a64_bit(w, 11) ? a64_simd_one_source(w)
			      : a64_simd_three_different(w);
}

/*
 * by a lane    ... size L M Rm opcode H 0 Rn Rd
 *
 * Doubles use H alone for the lane's number, and L must be 0; complex
 * multiplication (fcmla) has half as many lanes.
 */
static bool a64_simd_by_lane(uint32_t w)
{
	static const uint8_t sizes[2][16] = {
		{0x44, 0xd5, 0x66, 0x66, 0x44, 0xd5, 0x66, 0x66, 0x66, 0xd5,
		 0x66, 0x66, 0x66, 0x66, 0x44, 0xff},
		{0x66, 0x62, 0x66, 0x62, 0x66, 0x62, 0x66, 0x62, 0x44, 0xd5,
		 0x66, 0x00, 0x44, 0x66, 0x44, 0x66},
	};
	bool u = a64_bit(w, 29), l = a64_bit(w, 21), q = a64_bit(w, 30);
	unsigned opcode = a64_bits(w, 15, 12), size = a64_bits(w, 23, 22);

	if (!a64_has_size(sizes[u][opcode], w))
		return false;
	if (u && (opcode & 9) == 1) /* fcmla */
		return size == 1 ? q || !a64_bit(w, 11) : !l;
	return size != 3 || !l || (!u && opcode == 15);
}

/* the sizes of a shift: the place of the highest bit of immh, bits 22:19 */
static unsigned a64_shift_size(uint32_t w)
{
	return 31 - (unsigned)__builtin_clz(a64_bits(w, 22, 19));
}

/*
 * shifts, and modified immediates if immh is 0
 *	0 Q U 0 1111 0 immh immb opcode 1 Rn Rd
 *	0 Q U 0 1111 0 0000 abc cmode o 1 defgh Rd
 */
static bool a64_simd_shift(uint32_t w)
{
	static const uint8_t sizes[2][32] = {
		{0xf7, 0x00, 0xf7, 0x00, 0xf7, 0x00, 0xf7, 0x00,
		 0x00, 0x00, 0xf7, 0x00, 0x00, 0x00, 0xf7, 0x00,
		 0x77, 0x77, 0x77, 0x77, 0x77, 0x00, 0x00, 0x00,
		 0x00, 0x00, 0x00, 0x00, 0xe6, 0x00, 0x00, 0xe6},
		{0xf7, 0x00, 0xf7, 0x00, 0xf7, 0x00, 0xf7, 0x00,
		 0xf7, 0x00, 0xf7, 0x00, 0xf7, 0x00, 0xf7, 0x00,
		 0x77, 0x77, 0x77, 0x77, 0x77, 0x00, 0x00, 0x00,
		 0x00, 0x00, 0x00, 0x00, 0xe6, 0x00, 0x00, 0xe6},
	};
	bool u = a64_bit(w, 29), q = a64_bit(w, 30);
	bool one = a64_bits(w, 15, 12) == 15;

	if (a64_bit(w, 23))
		return false;
	if (a64_bits(w, 22, 19))
		return a64_has(sizes[u][a64_bits(w, 15, 11)],
			       a64_shift_size(w), q);
	return a64_bit(w, 11) ? one && !u : q || !u || !one;
}

/* 01x1 1110: one lane of each register */
static bool a64_simd_scalar(uint32_t w)
{
	static const uint8_t same[2][32] = {
		{0x00, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x08, 0x08,
		 0x08, 0x0f, 0x08, 0x0f, 0x00, 0x00, 0x00, 0x00,
		 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00,
		 0x00, 0x00, 0x00, 0x03, 0x03, 0x00, 0x00, 0x0f},
		{0x00, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x08, 0x08,
		 0x08, 0x0f, 0x08, 0x0f, 0x00, 0x00, 0x00, 0x00,
		 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00,
		 0x00, 0x00, 0x0c, 0x00, 0x0f, 0x0f, 0x00, 0x00},
	};
	static const uint8_t one[4][2][32] = {
		{
			{0x00, 0x00, 0x00, 0x0f, 0x00, 0x00, 0x00, 0x0f,
			 0x08, 0x08, 0x08, 0x08, 0x0c, 0x0c, 0x0c, 0x00,
			 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00,
			 0x00, 0x00, 0x0f, 0x0f, 0x03, 0x0f, 0x00, 0x0c},
			{0x00, 0x00, 0x00, 0x0f, 0x00, 0x00, 0x00, 0x0f,
			 0x08, 0x08, 0x00, 0x08, 0x0c, 0x0c, 0x00, 0x00,
			 0x00, 0x00, 0x07, 0x00, 0x07, 0x00, 0x02, 0x00,
			 0x00, 0x00, 0x0f, 0x0f, 0x03, 0x0f, 0x00, 0x00},
		},
		{
			{[0 ... 2] = 0x01},
		},
		{
			{[12] = 0x05, [13] = 0x01, [15] = 0x05, [27] = 0x08},
			{[12] = 0x0f, [13] = 0x03, [15] = 0x0f},
		},
		{
			{[12 ... 14] = 0x08, [26 ... 27] = 0x0a, [28] = 0x02,
			 [29] = 0x0a, [31] = 0x08},
			{[12 ... 13] = 0x08, [26 ... 27] = 0x0a, [28] = 0x02,
			 [29] = 0x0a},
		},
	};
	static const uint8_t half[2][8] = {
		{0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x0a},
		{0x00, 0x00, 0x08, 0x00, 0x0a, 0x0a, 0x00, 0x00},
	};
	bool u = a64_bit(w, 29);
	unsigned opcode = a64_bits(w, 15, 11), size = a64_bits(w, 23, 22);

	if (a64_bit(w, 21) && a64_bit(w, 10))
		return a64_has_scalar_size(same[u][opcode], w);
	if (a64_bit(w, 21) && a64_bit(w, 11))
		return !a64_bits(w, 18, 17) &&
		       a64_has_scalar_size(
			       one[a64_bits(w, 20, 19)][u][a64_bits(w, 16, 12)],
			       w);
	if (a64_bit(w, 21)) /* sqdmlal sqdmlsl sqdmull */
		return !u && (size == 1 || size == 2) && opcode >= 18 &&
		       (opcode & 3) == 2 && opcode <= 26;
	if (!a64_bit(w, 10)) /* sha1 sha256 */
		return !u && size == 0 && opcode < 14 && !a64_bit(w, 11);
	if (opcode == 0 && !u && size == 0) /* dup */
		return a64_bits(w, 19, 16) != 0;
	if (a64_bit(w, 15)) /* sqrdmlah sqrdmlsh */
		return u && (size == 1 || size == 2) && opcode < 18;
	return !a64_bit(w, 14) && a64_has_scalar_size(half[u][opcode & 7], w);
}

/* 01x1 1111: shifts and products by a lane, of one lane */
static bool a64_simd_scalar_imm(uint32_t w)
{
	static const uint8_t shift[2][32] = {
		{0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00,
		 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x0f, 0x00,
		 0x00, 0x00, 0x07, 0x07, 0x00, 0x00, 0x00, 0x00,
		 0x00, 0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x0e},
		{0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00,
		 0x08, 0x00, 0x08, 0x00, 0x0f, 0x00, 0x0f, 0x00,
		 0x07, 0x07, 0x07, 0x07, 0x00, 0x00, 0x00, 0x00,
		 0x00, 0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x0e},
	};
	static const uint8_t lane[2][16] = {
		{0x00, 0x0d, 0x00, 0x06, 0x00, 0x0d, 0x00, 0x06, 0x00, 0x0d,
		 0x00, 0x06, 0x06, 0x06, 0x00, 0x00},
		{0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
		 0x00, 0x00, 0x00, 0x06, 0x00, 0x06},
	};
	bool u = a64_bit(w, 29);

	if (!a64_bit(w, 10))
		return a64_has_scalar_size(lane[u][a64_bits(w, 15, 12)], w) &&
		       (a64_bits(w, 23, 22) != 3 || !a64_bit(w, 21));
	return !a64_bit(w, 23) && a64_bits(w, 22, 19) &&
	       a64_has(shift[u][a64_bits(w, 15, 11)], a64_shift_size(w),
		       false);
}

/* 1100 1110: SHA-3, SHA-512, SM3, SM4 */
static bool a64_simd_crypto(uint32_t w)
{
	unsigned op = a64_bits(w, 15, 10);

	switch (a64_bits(w, 23, 21)) {
	case 0: /* eor3 */
	case 1: /* bcax */
		return !a64_bit(w, 15);
	case 2: /* sm3ss1, sm3tt */
		return !a64_bit(w, 15) || !a64_bit(w, 14);
	case 3: /* sha512h ... rax1, sm3partw1 sm3partw2 sm4ekey */
		return (op >= 32 && op < 36) || (op >= 48 && op < 51);
	case 4: /* xar */
		return true;
	case 6: /* sha512su0 sm4e */
		return a64_rm(w) == 0 && (op == 32 || op == 33);
	default:
		return false;
	}
}

/* types of scalar floating point: 0 single, 1 double, 3 half */
enum { TYPE_S = 1 << 0, TYPE_D = 1 << 1, TYPE_H = 1 << 3, TYPE_SDH = 11 };

/*
 * scalar floating point    0001 1110 type 1 ... Rn Rd
 *	opcode 10000    one source: fmov fabs fneg fsqrt fcvt frint
 *	imm8 100 00000  fmov of a constant
 *	Rm opcode 10    two sources: fmul ... fnmul
 *	Rm cond 01, 11  fccmp, fcsel
 */
static bool a64_fp_allocated(uint32_t w)
{
	static const uint8_t one[64] = {
		TYPE_SDH,        TYPE_SDH,
		TYPE_SDH,        TYPE_SDH, /* fmov ... fsqrt */
		TYPE_D | TYPE_H, TYPE_S | TYPE_H,
		TYPE_D,          TYPE_S | TYPE_D,
		TYPE_SDH,        TYPE_SDH,
		TYPE_SDH,        TYPE_SDH, /* frintn p m z */
		TYPE_SDH,        0,
		TYPE_SDH,        TYPE_SDH,        /* frinta, x i */
		TYPE_S | TYPE_D, TYPE_S | TYPE_D, /* frint32, 64 */
		TYPE_S | TYPE_D, TYPE_S | TYPE_D,
	};
	unsigned type = a64_bits(w, 23, 22);

	if (a64_bits(w, 14, 10) == 16)
		return one[a64_bits(w, 20, 15)] >> type & 1;
	if (type == 2)
		return false;
	if (a64_bits(w, 12, 10) == 4)
		return a64_rn(w) == 0;
	if (a64_bits(w, 11, 10) == 2)
		return a64_bits(w, 15, 12) <= 8;
	return a64_bit(w, 10) || a64_bits(w, 13, 10) == 8;
}

bool a64_simd_allocated(uint32_t w)
{
	unsigned top = w >> 24;

	switch (top) {
	case 0x0e:
	case 0x2e:
	case 0x4e:
	case 0x6e:
		return a64_simd_vector(w);
	case 0x0f:
	case 0x2f:
	case 0x4f:
	case 0x6f:
		return a64_bit(w, 10) ? a64_simd_shift(w) : a64_simd_by_lane(w);
	case 0x5e:
	case 0x7e:
		return a64_simd_scalar(w);
	case 0x5f:
	case 0x7f:
		return a64_simd_scalar_imm(w);
	case 0xce:
		return a64_simd_crypto(w);
	case 0x1e:
		return a64_fp_allocated(w);
	case 0x1f: /* fmadd and its kin */
		return a64_bits(w, 23, 22) != 2;
	default:
		return false;
	}
}
