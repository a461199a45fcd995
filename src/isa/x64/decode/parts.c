/*
 * parts: the fields of an x86-64 encoding, fast or by Zydis.
 *
 * Sweeping an image asks for little more than lengths, and nine of ten
 * instructions use a few plain encodings: optional prefixes, an optional REX,
 * an opcode of the first two maps, a ModRM, a displacement, an immediate.
 * x64_parts_fast() takes exactly those apart by a table with one byte for each
 * opcode, and refuses all others, which then go to Zydis:
 *
 *	[66 2e 3e 64 65 f2 f3]* [REX] opcode        [ModRM [SIB] [disp]] [imm]
 *	                              0f opcode
 *
 * The table holds only what the unit test proves equal to Zydis for every
 * combination of prefix, REX, opcode, ModRM and SIB. Nothing here knows what
 * an instruction does.
 */
#include <string.h>

#include "isa/x64/x64_int.h"

/*
 * What ZydisDecoderInit() would write, as constants, so that there is no
 * first call to race for. The modes are its defaults.
 */
#define ZYDIS(minimal) \
	{ \
		.machine_mode = ZYDIS_MACHINE_MODE_LONG_64, \
		.stack_width = ZYDIS_STACK_WIDTH_64, \
		.decoder_mode = { \
			[ZYDIS_DECODER_MODE_MINIMAL] = (minimal), \
			[ZYDIS_DECODER_MODE_MPX] = ZYAN_TRUE, \
			[ZYDIS_DECODER_MODE_CET] = ZYAN_TRUE, \
			[ZYDIS_DECODER_MODE_LZCNT] = ZYAN_TRUE, \
			[ZYDIS_DECODER_MODE_TZCNT] = ZYAN_TRUE, \
			[ZYDIS_DECODER_MODE_CLDEMOTE] = ZYAN_TRUE, \
		}, \
	}

static const ZydisDecoder zydis_minimal = ZYDIS(ZYAN_TRUE);
static const ZydisDecoder zydis_full = ZYDIS(ZYAN_FALSE);

/* shapes of opcodes that the fast path takes */
enum {
	FAST = 1,
	MODRM = 2,
	IMM8 = 4,
	IMMZ = 8,    /* 32 bits, 16 under a 66 prefix without REX.W */
	REL32 = 16,  /* 32 bits, whatever the prefixes say */
	REL = 32,    /* the immediate is relative to the next instruction */
	NO_SIMD = 64, /* 0f map: not with prefixes f2, f3 */
	NO_66 = 128,  /* 0f map: nor with 66 */
};

#define ALU(n) \
	[n] = FAST | MODRM, [n + 1] = FAST | MODRM, [n + 2] = FAST | MODRM, \
	[n + 3] = FAST | MODRM, [n + 4] = FAST | IMM8, [n + 5] = FAST | IMMZ

static const uint8_t shape_one[256] = {
	ALU(0x00), ALU(0x08), ALU(0x10), ALU(0x18),
	ALU(0x20), ALU(0x28), ALU(0x30), ALU(0x38),
	[0x50 ... 0x5f] = FAST,                    /* push, pop */
	[0x63] = FAST | MODRM,                     /* movsxd */
	[0x68] = FAST | IMMZ,                      /* push imm */
	[0x69] = FAST | MODRM | IMMZ,              /* imul */
	[0x6a] = FAST | IMM8,
	[0x6b] = FAST | MODRM | IMM8,
	[0x70 ... 0x7f] = FAST | IMM8 | REL,       /* jcc */
	[0x80] = FAST | MODRM | IMM8,
	[0x81] = FAST | MODRM | IMMZ,
	[0x83] = FAST | MODRM | IMM8,
	[0x84 ... 0x8b] = FAST | MODRM,            /* test, xchg, mov */
	[0x8d] = FAST | MODRM,                     /* lea; not mod 3 */
	[0x90] = FAST,
	[0x98 ... 0x99] = FAST,                    /* cdqe, cqo */
	[0xa8] = FAST | IMM8,
	[0xa9] = FAST | IMMZ,
	[0xb0 ... 0xb7] = FAST | IMM8,
	[0xb8 ... 0xbf] = FAST | IMMZ,             /* 64 bits under REX.W */
	[0xc0 ... 0xc1] = FAST | MODRM | IMM8,     /* shifts */
	[0xc3] = FAST,                             /* ret */
	[0xc6] = FAST | MODRM | IMM8,              /* mov; only /0 */
	[0xc7] = FAST | MODRM | IMMZ,              /* mov; only /0 */
	[0xc9] = FAST,
	[0xcc] = FAST,
	[0xd0 ... 0xd3] = FAST | MODRM,
	[0xe8 ... 0xe9] = FAST | REL32 | REL,      /* call, jmp */
	[0xeb] = FAST | IMM8 | REL,
	[0xf6] = FAST | MODRM,                     /* /0, /1: imm8 too */
	[0xf7] = FAST | MODRM,                     /* /0, /1: immz too */
	[0xfe] = FAST | MODRM,                     /* only /0, /1 */
	[0xff] = FAST | MODRM,                     /* only /0 /1 /2 /4 /6 */
};

static const uint8_t shape_0f[256] = {
	[0x0b] = FAST | NO_SIMD | NO_66,           /* ud2 */
	[0x10 ... 0x11] = FAST | MODRM,            /* mov[au]p, movs[sd] */
	[0x1f] = FAST | MODRM,                     /* nop */
	[0x28 ... 0x29] = FAST | MODRM | NO_SIMD,
	[0x2e ... 0x2f] = FAST | MODRM | NO_SIMD,  /* comiss */
	[0x40 ... 0x4f] = FAST | MODRM | NO_SIMD,  /* cmov */
	[0x51] = FAST | MODRM,                     /* sqrt */
	[0x54 ... 0x57] = FAST | MODRM | NO_SIMD,
	[0x58 ... 0x59] = FAST | MODRM,
	[0x5c ... 0x5f] = FAST | MODRM,
	[0x6e] = FAST | MODRM | NO_SIMD,
	[0x80 ... 0x8f] = FAST | REL32 | REL,      /* jcc */
	[0x90 ... 0x9f] = FAST | MODRM,            /* setcc */
	[0xa2] = FAST | NO_SIMD | NO_66,
	[0xa3] = FAST | MODRM | NO_SIMD,           /* bt */
	[0xaf] = FAST | MODRM,                     /* imul */
	[0xb6 ... 0xb7] = FAST | MODRM,            /* movzx */
	[0xbe ... 0xbf] = FAST | MODRM,            /* movsx */
	[0xd4] = FAST | MODRM | NO_SIMD,
	[0xef] = FAST | MODRM | NO_SIMD,           /* pxor */
	[0xfe] = FAST | MODRM | NO_SIMD,
};

/* the little-endian signed integer of `bits` bits at p */
static int64_t read_signed(const uint8_t *p, unsigned bits)
{
	int64_t v;
	int32_t w;
	int16_t h;

	switch (bits) {
	case 8:
		return (int8_t)*p;
	case 16:
		memcpy(&h, p, sizeof h);
		return h;
	case 32:
		memcpy(&w, p, sizeof w);
		return w;
	default:
		memcpy(&v, p, sizeof v);
		return v;
	}
}

/* every prefix; IS_PREFIX alone: without effect */
enum { IS_PREFIX = 128 };
static const uint8_t prefixes[256] = {
	[0x66] = IS_PREFIX | PRE_66,   [0x67] = IS_PREFIX | PRE_67,
	[0xf2] = IS_PREFIX | PRE_F2,   [0xf3] = IS_PREFIX | PRE_F3,
	[0x64] = IS_PREFIX | PRE_FSGS, [0x65] = IS_PREFIX | PRE_FSGS,
	[0xf0] = IS_PREFIX | PRE_LOCK, [0x26] = IS_PREFIX,
	[0x2e] = IS_PREFIX,	       [0x36] = IS_PREFIX,
	[0x3e] = IS_PREFIX,
};

/* the prefix bit of byte b, 0 for prefixes without effect, -1 for others */
static inline int prefix_bit(uint8_t b)
{
	return prefixes[b] ? prefixes[b] & ~IS_PREFIX : -1;
}

/* whether an opcode extension is one that the fast path takes */
static bool group_is_fast(const struct x64_parts *p)
{
	if (p->map != ZYDIS_OPCODE_MAP_DEFAULT)
		return true;
	switch (p->opcode) {
	case 0x8d:
		return p->mod != 3;
	case 0xc6:
	case 0xc7:
		return p->reg == 0;
	case 0xfe:
		return p->reg < 2;
	case 0xff:
		return p->reg < 7 && p->reg != 3 && p->reg != 5;
	default:
		return true;
	}
}

/* takes ModRM, SIB and displacement apart; returns the byte behind them */
static const uint8_t *parse_modrm(const uint8_t *c, struct x64_parts *p)
{
	uint8_t b = *c++;
	bool wide;

	p->has_modrm = true;
	p->mod = b >> 6;
	p->reg = b >> 3 & 7;
	p->rm = b & 7;
	if (p->mod == 3)
		return c;
	wide = p->mod == 2 || (p->mod == 0 && p->rm == 5);
	if (p->rm == 4) {
		b = *c++;
		p->has_sib = true;
		p->base = b & 7;
		p->index = b >> 3 & 7;
		p->scale = b >> 6;
		wide |= p->mod == 0 && p->base == 5;
	}
	p->disp_bits = wide ? 32 : p->mod == 1 ? 8 : 0;
	if (p->disp_bits)
		p->disp = read_signed(c, p->disp_bits);
	return c + p->disp_bits / 8;
}

/* how many bits of immediate follow, for an opcode of shape `shape` */
static unsigned immediate_bits(const struct x64_parts *p, unsigned shape)
{
	bool one = p->map == ZYDIS_OPCODE_MAP_DEFAULT;

	if (one && (p->opcode | 1) == 0xf7 && p->reg < 2)
		shape |= p->opcode == 0xf6 ? IMM8 : IMMZ;
	if (shape & IMM8)
		return 8;
	if (shape & REL32)
		return 32;
	if (!(shape & IMMZ))
		return 0;
	if (p->rex & 8)
		return one && p->opcode >> 3 == 0xb8 >> 3 ? 64 : 32;
	return p->pre & PRE_66 ? 16 : 32;
}

/* the shape of the opcode at c, 0 if not for the fast path; map, opcode */
static unsigned parse_opcode(const uint8_t *c, struct x64_parts *p)
{
	unsigned shape;

	if (*c != 0x0f) {
		p->opcode = *c;
		return shape_one[*c];
	}
	p->map = ZYDIS_OPCODE_MAP_0F;
	p->opcode = c[1];
	shape = shape_0f[c[1]];
	if ((shape & NO_SIMD && p->pre & (PRE_F2 | PRE_F3)) ||
	    (shape & NO_66 && p->pre & PRE_66))
		return 0;
	return shape;
}

/* as many bytes as parse() may look at, of a bad instruction too */
enum { PARSED_MAX = 24 };

/* x64_parts_fast() without a look at how many bytes there are */
static bool parse(const uint8_t *code, struct x64_parts *p)
{
	enum { MAX_PREFIXES = 4 };
	const uint8_t *c = code;
	unsigned shape;
	int bit;

	memset(p, 0, sizeof *p);
	p->legacy = true;
	while ((bit = prefix_bit(*c)) >= 0) {
		if (bit & (PRE_67 | PRE_LOCK) || c - code == MAX_PREFIXES)
			return false;
		p->pre |= bit;
		c++;
	}
	if ((*c & 0xf0) == 0x40)
		p->rex = *c++ & 15;
	shape = parse_opcode(c, p);
	if (!(shape & FAST))
		return false;
	c += p->map == ZYDIS_OPCODE_MAP_0F ? 2 : 1;
	if (shape & MODRM) {
		c = parse_modrm(c, p);
		if (!group_is_fast(p))
			return false;
	}
	p->imm_bits = immediate_bits(p, shape);
	if (p->imm_bits)
		p->imm = read_signed(c, p->imm_bits);
	p->rel = shape & REL;
	p->len = c - code + p->imm_bits / 8;
	return true;
}

/* parse() of few bytes: zeros follow them */
static bool parse_few(const uint8_t *code, size_t avail, struct x64_parts *p)
{
	uint8_t copy[PARSED_MAX] = {0};

	memcpy(copy, code, avail);
	return parse(copy, p) && p->len <= avail;
}

/* takes the commonest encodings apart; false: not one of them */
bool x64_parts_fast(const uint8_t *code, size_t avail, struct x64_parts *p)
{
	/* callers that ask about the end of a block pass few bytes */
	return (avail < PARSED_MAX ? parse_few(code, avail, p) :
				     parse(code, p)) &&
	       p->len <= X64_MAX_LEN;
}

/* whether Zydis knows the bytes; op NULL: without operands */
static bool ask_zydis(const uint8_t *code, size_t avail,
		      ZydisDecodedInstruction *in, ZydisDecodedOperand *op)
{
	if (op)
		return ZYAN_SUCCESS(ZydisDecoderDecodeFull(
			&zydis_full, code, avail, in, op));
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		&zydis_minimal, NULL, code, avail, in));
}

/* whether three bytes of VEX and the opcode are AVX-IFMA's or VNNI-INT8's */
static bool is_new_multiply_add(const uint8_t *vex)
{
	uint8_t w = vex[2] >> 7, pp = vex[2] & 3;

	if (vex[0] != 0xc4 || (vex[1] & 31) != 2)
		return false;
	switch (vex[3]) {
	case 0x50: /* vpdpb[su][su]d; under 66, vpdpbusd, which Zydis knows */
	case 0x51:
		return !w && pp != 1;
	case 0xb4: /* vpmadd52luq, vpmadd52huq */
	case 0xb5:
		return w && pp == 1;
	default:
		return false;
	}
}

/*
 * Zydis 4.0 does not know AVX-IFMA and AVX-VNNI-INT8. They are multiply-adds
 * of integers in vectors and use their operands as vpdpbusd does, down to the
 * bytes of memory read. So their bytes with its opcode, mandatory prefix and W
 * are decoded instead: all that struct insn tells is the same.
 */
static bool make_twin(const uint8_t *code, size_t avail, uint8_t *twin)
{
	size_t at = 0;

	while (at < avail && prefix_bit(code[at]) >= 0)
		at++;
	if (at + 4 > avail || !is_new_multiply_add(code + at))
		return false;
	memcpy(twin, code, avail);
	twin[at + 2] = (code[at + 2] & 0x7c) | 1;
	twin[at + 3] = 0x50;
	return true;
}

/* decodes by Zydis; op NULL: without operands; false: no instruction */
bool x64_zydis(const uint8_t *code, size_t avail, ZydisDecodedInstruction *in,
	       ZydisDecodedOperand *op)
{
	uint8_t twin[X64_MAX_LEN];

	if (avail > X64_MAX_LEN)
		avail = X64_MAX_LEN;
	return ask_zydis(code, avail, in, op) ||
	       (make_twin(code, avail, twin) &&
		ask_zydis(twin, avail, in, op));
}

/* the prefixes of an instruction that Zydis decoded */
static uint8_t prefixes_of(const ZydisDecodedInstruction *in)
{
	uint8_t set = 0;

	for (unsigned i = 0; i < in->raw.prefix_count; i++) {
		int bit = prefix_bit(in->raw.prefixes[i].value);

		if (bit > 0)
			set |= bit;
	}
	return set;
}

/* VEX and its kin carry the mandatory prefix in two bits */
static uint8_t packed_prefix(const ZydisDecodedInstruction *in)
{
	static const uint8_t pre[4] = {0, PRE_66, PRE_F3, PRE_F2};

	switch (in->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return pre[in->raw.vex.pp & 3];
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return pre[in->raw.evex.pp & 3];
	case ZYDIS_INSTRUCTION_ENCODING_XOP:
		return pre[in->raw.xop.pp & 3];
	default:
		return 0;
	}
}

/* the parts of an instruction that Zydis decoded, in whatever mode */
void x64_parts_from(const ZydisDecodedInstruction *in, struct x64_parts *p)
{
	const ZydisDecodedInstructionRaw *raw = &in->raw;

	memset(p, 0, sizeof *p);
	p->len = in->length;
	p->map = in->opcode_map;
	p->evex = in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	p->legacy = in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
		    in->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW;
	p->opcode = in->opcode;
	p->pre = prefixes_of(in) | packed_prefix(in);
	if (p->legacy)
		p->rex = raw->rex.W << 3 | raw->rex.R << 2 |
			 raw->rex.X << 1 | raw->rex.B;
	p->has_modrm = raw->modrm.offset != 0;
	p->mod = raw->modrm.mod;
	p->reg = raw->modrm.reg;
	p->rm = raw->modrm.rm;
	p->has_sib = raw->sib.offset != 0;
	p->base = raw->sib.base;
	p->index = raw->sib.index;
	p->scale = raw->sib.scale;
	p->disp_bits = raw->disp.size;
	p->disp = raw->disp.value;
	p->imm_bits = raw->imm[0].size;
	p->rel = raw->imm[0].is_relative;
	p->imm = raw->imm[0].value.s;
	/* Zydis leaves unsigned immediates zero-extended */
	if (p->imm_bits == 32)
		p->imm = (int32_t)p->imm;
	else if (p->imm_bits == 16)
		p->imm = (int16_t)p->imm;
	else if (p->imm_bits == 8)
		p->imm = (int8_t)p->imm;
}

/* the parts by Zydis, without operands; false: not an instruction */
bool x64_parts_slow(const uint8_t *code, size_t avail, struct x64_parts *p)
{
	ZydisDecodedInstruction in;

	if (!x64_zydis(code, avail, &in, NULL))
		return false;
	x64_parts_from(&in, p);
	return true;
}

/* the number of the general register that reg is part of, or -1 */
int x64_gpr(ZydisRegister reg)
{
	if (reg < ZYDIS_REGISTER_AL || reg > ZYDIS_REGISTER_R15)
		return -1;
	if (reg >= ZYDIS_REGISTER_AX)
		return (reg - ZYDIS_REGISTER_AX) % X64_NREGS;
	/* al cl dl bl, ah ch dh bh, then spl and on */
	reg -= ZYDIS_REGISTER_AL;
	return reg < 4 ? (int)reg : (int)reg - 4;
}
