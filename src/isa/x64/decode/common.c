/*
 * common: what the most common instructions read and write, without Zydis.
 *
 * Nine of ten instructions are moves, additions, comparisons, pushes and
 * branches with general registers. Passes over a whole image (cfg/live/live.h)
 * take nearly all their time in decode(), so these are done by hand, three
 * times as fast. The unit test compares with decode.c for every combination of
 * prefix, REX, opcode, ModRM and SIB; what is refused here goes there.
 */
#include "isa/x64/x64_int.h"

enum {
	STATUS = FLAG_N | FLAG_Z | FLAG_C | FLAG_V | FLAG_P | FLAG_A,
	ALU_ADC = 2,
	ALU_SBB = 3,
	ALU_SUB = 5,
	ALU_XOR = 6,
	ALU_CMP = 7,
};

/* the condition that the low four bits of jcc, setcc and cmovcc encode */
uint8_t x64_cond(unsigned nibble)
{
	static const uint8_t cond[16] = {
		COND_OTHER, COND_OTHER, COND_ULT,   COND_UGE,
		COND_EQ,    COND_NE,	COND_ULE,   COND_UGT,
		COND_NEG,   COND_POS,	COND_OTHER, COND_OTHER,
		COND_SLT,   COND_SGE,	COND_SLE,   COND_SGT,
	};

	return cond[nibble & 15];
}

/* an instruction on its way into *out */
struct common {
	const struct x64_parts *p;
	struct insn *out;
	unsigned size; /* bytes of an operand that is not a byte */
	regset whole; /* of which more than the low byte is read */
	bool refused;
};

/* the flags that conditions 2n and 2n + 1 look at */
static uint8_t condition_flags(unsigned nibble)
{
	static const uint8_t flags[8] = {
		FLAG_V, FLAG_C, FLAG_Z, FLAG_C | FLAG_Z,
		FLAG_N, FLAG_P, FLAG_N | FLAG_V, FLAG_Z | FLAG_N | FLAG_V,
	};

	return flags[nibble >> 1 & 7];
}

/* a register field; ah to bh are known by a REX prefix that may be empty */
static regset field(struct common *c, unsigned low, unsigned rex_bit,
		    unsigned size)
{
	if (size == 1 && low >= 4 && !c->p->rex)
		c->refused = true;
	return REG(low | (c->p->rex & rex_bit ? 8 : 0));
}

static regset reg_field(struct common *c, unsigned size)
{
	return field(c, c->p->reg, 4, size);
}

/* the operand of mod and rm is a register */
static bool is_register(const struct common *c)
{
	return c->p->mod == 3;
}

/* the registers of the memory operand's address */
static regset address(const struct common *c)
{
	const struct x64_parts *p = c->p;
	unsigned index = p->index | (p->rex & 2 ? 8 : 0);
	regset set = 0;

	if (!p->has_sib)
		return p->mod == 0 && p->rm == 5 ?
			       0 : REG(p->rm | (p->rex & 1 ? 8 : 0));
	if (p->mod != 0 || p->base != 5)
		set |= REG(p->base | (p->rex & 1 ? 8 : 0));
	return index == RSP ? set : set | REG(index);
}

static void read_reg(struct common *c, regset r, unsigned size)
{
	c->out->reads |= r;
	if (size == 1)
		c->out->byte_reads |= r;
	else
		c->whole |= r;
}

/* a narrow write leaves the rest of the register */
static void write_reg(struct common *c, regset r, unsigned size)
{
	c->out->writes |= r;
	if (size >= 4)
		return;
	c->out->reads |= r;
	if (size == 1)
		c->out->byte_writes |= r;
	else
		c->whole |= r;
}

/* memory is accessed; a reference to it gets its size */
static void touch(struct common *c, unsigned size)
{
	read_reg(c, address(c), 8);
	if (c->p->mod == 0 && c->p->rm == 5 &&
	    (c->out->ref_kind == REF_LOAD || c->out->ref_kind == REF_STORE))
		c->out->ref_size = size;
}

static void read_rm(struct common *c, unsigned size)
{
	if (is_register(c)) {
		read_reg(c, field(c, c->p->rm, 1, size), size);
		return;
	}
	touch(c, size);
	c->out->mem_read = size;
}

static void write_rm(struct common *c, unsigned size)
{
	if (is_register(c)) {
		write_reg(c, field(c, c->p->rm, 1, size), size);
		return;
	}
	touch(c, size);
	c->out->mem_write = size;
}

/* the flags of arithmetic operation `alu` */
static void alu_flags(struct common *c, unsigned alu)
{
	if (alu == ALU_ADC || alu == ALU_SBB)
		c->out->flags_read = FLAG_C;
	c->out->flags_written = STATUS;
}

/* opcodes 00 to 3d, by their low three bits: Eb,Gb Ev,Gv Gb,Eb Gv,Ev A,I */
static void common_alu(struct common *c, unsigned alu, unsigned form)
{
	unsigned size = form & 1 ? c->size : 1;
	bool same = form < 4 && is_register(c) && size >= 4 &&
		    reg_field(c, size) == field(c, c->p->rm, 1, size);

	alu_flags(c, alu);
	if (form >= 4) {
		read_reg(c, REG(RAX), size);
		if (alu != ALU_CMP)
			write_reg(c, REG(RAX), size);
		return;
	}
	/* xor r,r and sub r,r: zero, whatever r was */
	if (!same || (alu != ALU_XOR && alu != ALU_SUB)) {
		read_reg(c, reg_field(c, size), size);
		read_rm(c, size);
	}
	if (alu == ALU_CMP)
		return;
	if (form < 2)
		write_rm(c, size);
	else
		write_reg(c, reg_field(c, size), size);
}

/* 80, 81, 83: an immediate */
static void common_alu_imm(struct common *c, unsigned size)
{
	alu_flags(c, c->p->reg);
	read_rm(c, size);
	if (c->p->reg != ALU_CMP)
		write_rm(c, size);
}

static void common_push(struct common *c, regset r)
{
	read_reg(c, r | REG(RSP), 8);
	c->out->writes |= REG(RSP);
	c->out->mem_write = 8;
}

static void common_pop(struct common *c, regset r)
{
	c->refused |= r == REG(RSP);
	read_reg(c, REG(RSP), 8);
	c->out->writes |= r | REG(RSP);
	c->out->mem_read = 8;
}

static void common_jcc(struct common *c)
{
	c->out->flags_read = condition_flags(c->p->opcode);
	c->out->cond = x64_cond(c->p->opcode);
}

/* opcodes of one byte */
static bool common_one(struct common *c)
{
	const struct x64_parts *p = c->p;
	unsigned op = p->opcode, size = op & 1 ? c->size : 1;
	regset low = REG((op & 7) | (p->rex & 1 ? 8 : 0));

	if (op < 0x40 && (op & 7) < 6) {
		common_alu(c, op >> 3, op & 7);
		return true;
	}
	switch (op) {
	case 0x50 ... 0x57:
		common_push(c, low);
		return !(p->pre & PRE_66);
	case 0x58 ... 0x5f:
		common_pop(c, low);
		return !(p->pre & PRE_66);
	case 0x63: /* movsxd */
		read_rm(c, 4);
		write_reg(c, reg_field(c, 8), 8);
		return c->size == 8;
	case 0x70 ... 0x7f:
		common_jcc(c);
		return true;
	case 0x80:
	case 0x81:
		common_alu_imm(c, size);
		return true;
	case 0x83:
		common_alu_imm(c, c->size);
		return true;
	case 0x84: /* test */
	case 0x85:
		alu_flags(c, ALU_CMP);
		read_reg(c, reg_field(c, size), size);
		read_rm(c, size);
		return true;
	case 0x88: /* mov */
	case 0x89:
		read_reg(c, reg_field(c, size), size);
		write_rm(c, size);
		return true;
	case 0x8a:
	case 0x8b:
		read_rm(c, size);
		write_reg(c, reg_field(c, size), size);
		return true;
	case 0x8d: /* lea */
		read_reg(c, address(c), 8);
		write_reg(c, reg_field(c, c->size), c->size);
		return !is_register(c);
	case 0xb8 ... 0xbf: /* mov */
		write_reg(c, low, c->size);
		return true;
	case 0xc3: /* ret */
		common_pop(c, 0);
		return true;
	case 0xc6: /* mov */
	case 0xc7:
		write_rm(c, size);
		return p->reg == 0;
	case 0xe8: /* call */
		common_push(c, 0);
		return true;
	case 0xe9: /* jmp */
	case 0xeb:
		return true;
	default:
		return false;
	}
}

/* moves of a whole vector register */
static void common_vector(struct common *c)
{
	c->out->vector = c->out->packed = true;
	if (!is_register(c))
		touch(c, 16);
}

/* opcodes behind 0f */
static bool common_two(struct common *c)
{
	unsigned op = c->p->opcode;

	switch (op) {
	case 0x10: /* movups, movaps and their like */
	case 0x28:
		common_vector(c);
		c->out->mem_read = is_register(c) ? 0 : 16;
		return true;
	case 0x11:
	case 0x29:
		common_vector(c);
		c->out->mem_write = is_register(c) ? 0 : 16;
		return true;
	case 0x40 ... 0x4f: /* cmov */
		c->out->flags_read = condition_flags(op);
		read_reg(c, reg_field(c, c->size), c->size);
		read_rm(c, c->size);
		write_reg(c, reg_field(c, c->size), c->size);
		return true;
	case 0x80 ... 0x8f:
		common_jcc(c);
		return true;
	case 0x90 ... 0x9f: /* set */
		c->out->flags_read = condition_flags(op);
		write_rm(c, 1);
		return true;
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
		read_rm(c, op & 1 ? 2 : 1);
		write_reg(c, reg_field(c, c->size), c->size);
		return true;
	default:
		return false;
	}
}

bool x64_decode_common(const uint8_t *code, size_t avail, uint64_t addr,
		       struct insn *out)
{
	struct x64_parts p;
	struct common c = {.p = &p, .out = out};
	bool known;

	if (!x64_parts_fast(code, avail, &p) || p.pre & (PRE_F2 | PRE_F3))
		return false;
	x64_classify(&p, addr, out);
	if (out->kind == INSN_BAD)
		return false;
	c.size = p.rex & 8 ? 8 : p.pre & PRE_66 ? 2 : 4;
	known = p.map == ZYDIS_OPCODE_MAP_0F ? common_two(&c) :
						common_one(&c);
	out->byte_reads &= ~c.whole;
	out->byte_writes &= ~c.whole;
	return known && !c.refused;
}
