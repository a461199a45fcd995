/*
 * scan: what kind of instruction an encoding is, from its fields alone.
 *
 * Answers the first part of struct insn without looking at operands: kind and
 * target, the rip-relative reference, constants that could be addresses, and
 * padding. decode() calls x64_classify() too, so both say the same; the only
 * field that decode() may add to is ref_size, which is 0 (unknown) here
 * beyond the common integer instructions.
 *
 * Decisions:
 *   - A near branch under a 66 prefix without REX.W is INSN_BAD: Intel's
 *     processors ignore the prefix, AMD's cut the target to 16 bits and read
 *     a shorter displacement, so not even the length is certain.
 *   - Encodings that only Knights Corner has are INSN_BAD.
 *   - int3 is TRAP and padding. `int 0x80` is SYSCALL; all other interrupts
 *     raise a signal in a Linux process and are TRAP, as hlt.
 *   - Hypercalls and enclave calls, which leave the program for a place
 *     that no manual binds, and VIA's padlock are UNKNOWN.
 *   - fs:- and gs:-based rip-relative operands are REF_ADDRESS: the sum must
 *     be kept, but memory there is not what is accessed.
 */
#include <string.h>

#include "isa/x64/x64_int.h"

/* sets of opcodes: bit n of row m is opcode m << 5 | n */
struct opset {
	uint32_t row[8];
};

#define BIT(op) (1u << ((op)&31))
#define EIGHT(op) (0xffu << ((op)&31))

/* one-byte map: the r/m operand is written, if memory; no group opcodes */
static const struct opset stores_one = {{
	[0] = BIT(0x00) | BIT(0x01) | BIT(0x08) | BIT(0x09) | BIT(0x10) |
	      BIT(0x11) | BIT(0x18) | BIT(0x19),
	[1] = BIT(0x20) | BIT(0x21) | BIT(0x28) | BIT(0x29) | BIT(0x30) |
	      BIT(0x31),
	[4] = BIT(0x86) | BIT(0x87) | BIT(0x88) | BIT(0x89) | BIT(0x8c) |
	      BIT(0x8f),
	[6] = BIT(0xc0) | BIT(0xc1) | BIT(0xc6) | BIT(0xc7) | BIT(0xd0) |
	      BIT(0xd1) | BIT(0xd2) | BIT(0xd3),
}};

/* 0f map, legacy */
static const struct opset stores_0f = {{
	[0] = BIT(0x11) | BIT(0x13) | BIT(0x17) | BIT(0x1b),
	[1] = BIT(0x29) | BIT(0x2b),
	[3] = BIT(0x78) | BIT(0x7e) | BIT(0x7f),
	[4] = EIGHT(0x90) | EIGHT(0x98),
	[5] = BIT(0xa4) | BIT(0xa5) | BIT(0xab) | BIT(0xac) | BIT(0xad) |
	      BIT(0xb0) | BIT(0xb1) | BIT(0xb3) | BIT(0xbb),
	[6] = BIT(0xc0) | BIT(0xc1) | BIT(0xc3) | BIT(0xd6),
	[7] = BIT(0xe7),
}};

/* 0f map and EVEX map 5, under VEX and EVEX */
static const struct opset stores_vex_0f = {{
	[0] = BIT(0x11) | BIT(0x13) | BIT(0x17),
	[1] = BIT(0x29) | BIT(0x2b),
	[3] = BIT(0x7e) | BIT(0x7f),
	[4] = BIT(0x91),
	[6] = BIT(0xd6),
	[7] = BIT(0xe7),
}};

/* 0f38 map under EVEX with prefix f3: vpmov to narrower elements */
static const struct opset stores_narrow = {{
	[0] = 0x3fu << 0x10,
	[1] = 0x3fu << 0x00 | 0x3fu << 0x10,
}};

/* 0f3a map: extractions, vcvtps2ph */
static const struct opset stores_0f3a = {{
	[0] = 0xfu << 0x14 | BIT(0x19) | BIT(0x1b) | BIT(0x1d),
	[1] = BIT(0x39) | BIT(0x3b),
}};

/* opcode extensions that write memory, bit n: /n; x87's escapes d8 to df */
static const uint8_t stores_x87[8] = {
	[1] = 0xcc, /* d9: fst fstp fnstenv fnstcw */
	[3] = 0x8e, /* db: fisttp fist fistp fstp */
	[5] = 0xce, /* dd: fisttp fst fstp fnsave fnstsw */
	[7] = 0xce, /* df: fisttp fist fistp fbstp fistp */
};

static inline bool opset_has(const struct opset *s, uint8_t op)
{
	return s->row[op >> 5] & BIT(op);
}

static inline bool is_one(const struct x64_parts *p)
{
	return p->legacy && p->map == ZYDIS_OPCODE_MAP_DEFAULT;
}

static inline bool is_0f(const struct x64_parts *p)
{
	return p->legacy && p->map == ZYDIS_OPCODE_MAP_0F;
}

/* whether a one-byte opcode writes its memory operand */
static bool writes_one(const struct x64_parts *p)
{
	switch (p->opcode) {
	case 0x80 ... 0x83:
		return p->reg != 7;
	case 0xd8 ... 0xdf:
		return stores_x87[p->opcode - 0xd8] >> p->reg & 1;
	case 0xf6:
	case 0xf7:
		return p->reg == 2 || p->reg == 3;
	case 0xfe:
	case 0xff:
		return p->reg < 2;
	default:
		return opset_has(&stores_one, p->opcode);
	}
}

/* whether a 0f opcode writes its memory operand */
static bool writes_0f(const struct x64_parts *p)
{
	switch (p->opcode) {
	case 0x00:
		return p->reg < 2;
	case 0x01:
		return p->reg < 2 || p->reg == 4 || p->reg == 5;
	case 0x1b: /* bndmk computes, bndcn checks */
		return !(p->pre & (PRE_F2 | PRE_F3));
	case 0x7e:
		return !(p->pre & PRE_F3);
	case 0xae:
		return p->reg == 0 || p->reg == 3 ||
		       (p->reg == 4 && !(p->pre & PRE_F3)) ||
		       (p->reg == 6 && !(p->pre & PRE_66));
	case 0xba:
		return p->reg > 4;
	case 0xc7:
		return p->reg == 1 || p->reg == 4 || p->reg == 5 ||
		       p->reg == 7;
	default:
		return opset_has(&stores_0f, p->opcode);
	}
}

/* whether a 0f38 opcode, legacy, VEX or EVEX, writes its memory operand */
static bool writes_0f38(const struct x64_parts *p)
{
	uint8_t op = p->opcode;

	if (p->legacy)
		return (op == 0xf1 && !(p->pre & PRE_F2)) || op == 0xf5 ||
		       (op == 0xf6 && !(p->pre & (PRE_66 | PRE_F3))) ||
		       op == 0xf9;
	if (p->evex)
		return op == 0x63 || op == 0x8a || op == 0x8b ||
		       (p->pre & PRE_F3 && opset_has(&stores_narrow, op));
	return op == 0x2e || op == 0x2f || op == 0x8e ||
	       (op == 0x49 && p->pre & PRE_66) ||
	       (op == 0x4b && p->pre & PRE_F3);
}

/* whether an instruction with a memory operand writes it */
static bool writes_memory(const struct x64_parts *p)
{
	switch (p->map) {
	case ZYDIS_OPCODE_MAP_DEFAULT:
		return writes_one(p);
	case ZYDIS_OPCODE_MAP_0F:
		if (p->legacy)
			return writes_0f(p);
		if (p->opcode == 0xae)
			return p->reg == 3;
		/* fallthrough */
	case ZYDIS_OPCODE_MAP_MAP5:
		if (p->opcode == 0x7e && p->pre & PRE_F3)
			return false;
		return opset_has(&stores_vex_0f, p->opcode);
	case ZYDIS_OPCODE_MAP_0F38:
		return writes_0f38(p);
	case ZYDIS_OPCODE_MAP_0F3A:
		return opset_has(&stores_0f3a, p->opcode);
	default:
		return false;
	}
}

/* whether the address of the memory operand is only computed */
static bool computes_address(const struct x64_parts *p)
{
	if (p->pre & PRE_FSGS)
		return true;
	if (is_one(p))
		return p->opcode == 0x8d;
	/* bndcl, bndcu, bndcn, bndmk */
	return is_0f(p) && (p->opcode & 0xfe) == 0x1a &&
	       p->pre & (PRE_F2 | PRE_F3);
}

/* prefetches, wide nops, cache line hints */
static bool is_hint(const struct x64_parts *p)
{
	return is_0f(p) && (p->opcode == 0x0d || p->opcode == 0x18 ||
			    p->opcode == 0x19 ||
			    (p->opcode >= 0x1c && p->opcode <= 0x1f));
}

/* bytes of the memory operand where the opcode alone tells, else 0 */
static unsigned integer_size(const struct x64_parts *p)
{
	unsigned wide = p->rex & 8 ? 8 : p->pre & PRE_66 ? 2 : 4;

	if (is_one(p)) {
		switch (p->opcode) {
		case 0x00 ... 0x3f:
		case 0x80 ... 0x8b:
		case 0xc6 ... 0xc7:
		case 0xf6 ... 0xf7:
			return p->opcode & 1 ? wide : 1;
		case 0x63:
			return wide == 2 ? 0 : 4;
		case 0x69:
		case 0x6b:
			return wide;
		case 0xff:
			return p->reg == 2 || p->reg == 4 ? 8 : 0;
		}
		return 0;
	}
	if (!is_0f(p))
		return 0;
	switch (p->opcode) {
	case 0x40 ... 0x4f:
	case 0xaf:
		return wide;
	case 0xb6:
	case 0xbe:
		return 1;
	case 0xb7:
	case 0xbf:
		return 2;
	}
	return 0;
}

/* the rip-relative reference, if there is one */
static void find_reference(const struct x64_parts *p, struct insn *out)
{
	if (!p->has_modrm || p->mod != 0 || p->rm != 5 || p->disp_bits != 32)
		return;
	out->ref = out->addr + p->len + (uint64_t)p->disp;
	if (p->pre & PRE_67)
		out->ref = (uint32_t)out->ref;
	if (is_hint(p)) {
		out->ref_kind = REF_HINT;
	} else if (computes_address(p)) {
		out->ref_kind = REF_ADDRESS;
	} else {
		out->ref_kind = writes_memory(p) ? REF_STORE : REF_LOAD;
		out->ref_size = integer_size(p);
	}
}

/*
 * A constant that could be an address: an immediate of 32 or 64 bits, as the
 * instruction extends it, else a displacement that nothing is added to but
 * an index; fs: and gs: add to it too.
 */
static void find_constant(const struct x64_parts *p, struct insn *out)
{
	bool bare_disp = p->has_sib ? p->mod == 0 && p->base == 5
				    : !p->has_modrm;

	if (p->imm_bits >= 32 && !p->rel) {
		bool wide = p->rex & 8 || (is_one(p) && p->opcode == 0x68);

		out->has_imm = true;
		out->imm = wide ? (uint64_t)p->imm : (uint32_t)p->imm;
	} else if (p->disp_bits >= 32 && bare_disp && !(p->pre & PRE_FSGS)) {
		out->has_imm = true;
		out->imm = p->pre & PRE_67 ? (uint32_t)p->disp
					   : (uint64_t)p->disp;
	}
}

/* the kind of a one-byte opcode */
static enum insn_kind kind_one(const struct x64_parts *p)
{
	switch (p->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return INSN_COND;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return INSN_RET;
	case 0xc7: /* xbegin */
		return p->mod == 3 && p->reg == 7 ? INSN_COND : INSN_SEQ;
	case 0xcd:
		return (uint8_t)p->imm == 0x80 ? INSN_SYSCALL : INSN_TRAP;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		return INSN_TRAP;
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JUMP;
	case 0xff:
		if (p->reg == 2 || p->reg == 3)
			return INSN_ICALL;
		return p->reg == 4 || p->reg == 5 ? INSN_IJUMP : INSN_SEQ;
	default:
		return INSN_SEQ;
	}
}

/* the kind of 0f 01: hypercalls and enclaves among register forms */
static enum insn_kind kind_0f01(const struct x64_parts *p)
{
	uint8_t b = p->mod << 6 | p->reg << 3 | p->rm;

	switch (b) {
	case 0xc0 ... 0xc7: /* enclv, vm*, pconfig */
	case 0xcc ... 0xcf: /* tdcall, seam*, encls */
	case 0xd4:	    /* vmfunc */
	case 0xd7 ... 0xdf: /* enclu, AMD's virtual machines */
		return INSN_UNKNOWN;
	case 0xec: /* uiret */
		return p->pre & PRE_F3 ? INSN_RET : INSN_SEQ;
	default:
		return INSN_SEQ;
	}
}

/* the kind of a 0f opcode */
static enum insn_kind kind_0f(const struct x64_parts *p)
{
	switch (p->opcode) {
	case 0x01:
		return kind_0f01(p);
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return INSN_SYSCALL;
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
	case 0xaa: /* rsm */
		return INSN_RET;
	case 0x0b: /* ud2, ud1, ud0 */
	case 0xb9:
	case 0xff:
		return INSN_TRAP;
	case 0x37: /* getsec */
	case 0xa6: /* VIA's padlock */
	case 0xa7:
		return INSN_UNKNOWN;
	case 0x80 ... 0x8f:
		return INSN_COND;
	default:
		return INSN_SEQ;
	}
}

/* lea 0(%r),%r in all its lengths */
static bool is_idle_lea(const struct x64_parts *p)
{
	uint8_t base = p->has_sib ? p->base : p->rm;

	if (p->opcode != 0x8d || !(p->rex & 8) || p->disp != 0 ||
	    (p->mod == 0 && base == 5) || p->pre & PRE_67)
		return false;
	if (p->has_sib && (p->index != 4 || p->rex & 2))
		return false;
	return base == p->reg && !(p->rex & 1) == !(p->rex & 4);
}

/* an instruction that fills gaps */
static bool is_padding(const struct x64_parts *p)
{
	if (is_0f(p))
		return p->opcode == 0x1f;
	if (!is_one(p))
		return false;
	if (p->opcode == 0x90)
		return !(p->rex & 1) && !(p->pre & PRE_F3);
	return p->opcode == 0xcc || is_idle_lea(p);
}

/* a near branch whose operand size the vendors disagree about */
static bool is_vendor_branch(const struct x64_parts *p, enum insn_kind kind)
{
	if (!(p->pre & PRE_66) || p->rex & 8 || !p->legacy)
		return false;
	switch (kind) {
	case INSN_JUMP:
	case INSN_COND:
	case INSN_CALL:
		return true;
	case INSN_ICALL:
	case INSN_IJUMP:
		return p->reg == 2 || p->reg == 4;
	case INSN_RET:
		return is_one(p) && (p->opcode & 0xfe) == 0xc2;
	default:
		return false;
	}
}

/*
 * Zydis takes a few VEX encodings that only Knights Corner knew, a processor
 * that runs no Linux program; jumps are among them.
 */
static bool is_knights_corner(const struct x64_parts *p)
{
	static const struct opset knc = {{
		[0] = BIT(0x18),
		[2] = BIT(0x43) | BIT(0x48) | BIT(0x49),
		[4] = BIT(0x84) | BIT(0x85) | BIT(0x95) | BIT(0x97),
		[5] = BIT(0xb8) | BIT(0xbc) | BIT(0xbd),
	}};

	if (p->legacy || p->evex)
		return false;
	if (p->map == ZYDIS_OPCODE_MAP_0F3A)
		return p->opcode == 0x3e;
	if (p->map != ZYDIS_OPCODE_MAP_0F)
		return false;
	return opset_has(&knc, p->opcode) ||
	       (p->opcode == 0xae && p->pre & (PRE_F2 | PRE_F3));
}

/*
 * Opcodes of which, most often, nothing is to say but their length: no
 * transfers, no padding. Most instructions are of these.
 */
static const struct opset dull_one = {{
	[0] = ~0u, /* arithmetic */
	[1] = ~0u,
	[2] = 0xffffu << 0x10, /* push and pop */
	[3] = BIT(0x63),
	[4] = BIT(0x80) | BIT(0x81) | BIT(0x83) | 0xffu << 4,
	[5] = EIGHT(0xb0) | EIGHT(0xb8),
	[6] = BIT(0xc0) | BIT(0xc1) | 0xfu << 0x10,
	[7] = BIT(0xf6) | BIT(0xf7),
}};

static const struct opset dull_0f = {{
	[0] = BIT(0x10) | BIT(0x11),
	[1] = BIT(0x28) | BIT(0x29) | BIT(0x2e) | BIT(0x2f),
	[2] = ~0u, /* cmov, floating-point arithmetic */
	[3] = BIT(0x6e) | BIT(0x6f) | BIT(0x7e) | BIT(0x7f),
	[4] = EIGHT(0x90) | EIGHT(0x98),
	[5] = BIT(0xa3) | BIT(0xaf) | BIT(0xb6) | BIT(0xb7) | BIT(0xbe) |
	      BIT(0xbf),
}};

/* such an opcode, and neither a reference nor a constant that matters */
static bool is_dull(const struct x64_parts *p)
{
	return p->legacy &&
	       (p->map == ZYDIS_OPCODE_MAP_DEFAULT ?
			opset_has(&dull_one, p->opcode) :
			p->map == ZYDIS_OPCODE_MAP_0F &&
			opset_has(&dull_0f, p->opcode)) &&
	       p->imm_bits < 32 && (p->disp_bits < 32 || p->mod == 2);
}

/* fills the first part of *out from an encoding's parts */
void x64_classify(const struct x64_parts *p, uint64_t addr, struct insn *out)
{
	enum insn_kind kind = INSN_SEQ;

	memset(out, 0, sizeof *out);
	out->addr = addr;
	if (is_dull(p)) {
		out->kind = INSN_SEQ;
		out->len = p->len;
		return;
	}
	if (is_one(p))
		kind = kind_one(p);
	else if (is_0f(p))
		kind = kind_0f(p);
	if (is_vendor_branch(p, kind) || is_knights_corner(p))
		return;
	out->kind = kind;
	out->len = p->len;
	if (p->rel)
		out->target = addr + p->len + (uint64_t)p->imm;
	find_reference(p, out);
	find_constant(p, out);
	out->pad = is_padding(p);
}

bool x64_prefix(uint8_t byte)
{
	return byte == 0xf0; /* lock */
}

/* what is no instruction, or a prefix alone */
void x64_undecoded(const uint8_t *code, size_t avail, uint64_t addr,
		   struct insn *out)
{
	memset(out, 0, sizeof *out);
	out->addr = addr;
	if (avail == 1 && x64_prefix(*code)) {
		out->kind = INSN_UNKNOWN;
		out->len = 1;
	}
}

/* struct isa's scan */
void x64_scan(const uint8_t *code, size_t avail, uint64_t addr,
	      struct insn *out)
{
	struct x64_parts p;

	if (x64_parts(code, avail, &p)) {
		x64_classify(&p, addr, out);
		return;
	}
	x64_undecoded(code, avail, addr, out);
}
