/*
 * operands: the operands of the most common instructions, without Zydis.
 *
 * Following values (cfg/value/value.h) takes most of its time in lift(), and
 * most of that is Zydis naming operands, hidden ones and all. For the
 * instructions that common.c knows, and a few more, they are named here as
 * Zydis would, as far as lift.c and emit.c look: mnemonic, category, widths,
 * and what is visible. The unit test compares the micro-operations for every
 * combination of prefix, REX, opcode, ModRM and SIB; what is refused here goes
 * to Zydis.
 */
#include "isa/x64/x64_int.h"

/* an instruction on its way into *full and *in */
struct common {
	const struct x64_parts *p;
	struct x64_full *full;
	struct insn *in;
	unsigned width; /* bits of an operand that is not a byte */
	bool refused;
};

/* general register r as Zydis names it */
static ZydisRegister register_name(struct common *c, unsigned r,
				   unsigned width)
{
	switch (width) {
	case 64:
		return ZYDIS_REGISTER_RAX + r;
	case 32:
		return ZYDIS_REGISTER_EAX + r;
	case 16:
		return ZYDIS_REGISTER_AX + r;
	default:
		/* an empty REX prefix, which parts do not tell, decides
		   whether 4 to 7 are ah to bh */
		if (r >= 4 && !c->p->rex)
			c->refused = true;
		return r < 4 ? ZYDIS_REGISTER_AL + r :
			       ZYDIS_REGISTER_SPL + (r - 4);
	}
}

/* the next operand */
static ZydisDecodedOperand *add(struct common *c, ZydisOperandType type,
				unsigned width)
{
	ZydisDecodedOperand *op =
		&c->full->op[c->full->in.operand_count_visible++];

	c->full->in.operand_count = c->full->in.operand_count_visible;
	op->type = type;
	op->visibility = ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
	op->actions = ZYDIS_OPERAND_ACTION_READ;
	op->size = width;
	return op;
}

static void add_register(struct common *c, unsigned r, unsigned width)
{
	add(c, ZYDIS_OPERAND_TYPE_REGISTER, width)->reg.value =
		register_name(c, r, width);
}

/* the register of the opcode's low bits */
static void add_low(struct common *c, unsigned width)
{
	add_register(c, x64_low_field(c->p), width);
}

/* the register of ModRM's middle field */
static void add_reg(struct common *c, unsigned width)
{
	add_register(c, x64_reg_field(c->p), width);
}

static void add_imm(struct common *c, int64_t imm, unsigned width)
{
	add(c, ZYDIS_OPERAND_TYPE_IMMEDIATE, width)->imm.value.s = imm;
}

/* the memory operand; its parts have no vector indices */
static ZydisDecodedOperand *add_memory(struct common *c, unsigned width,
				       ZydisMemoryOperandType type)
{
	const struct x64_parts *p = c->p;
	unsigned base = p->has_sib ? x64_base_field(p) : x64_rm_field(p);
	unsigned index = x64_index_field(p);
	bool no_base = p->mod == 0 && (base & 7) == 5;
	ZydisDecodedOperand *op = add(c, ZYDIS_OPERAND_TYPE_MEMORY, width);

	op->mem.type = type;
	op->mem.segment = ZYDIS_REGISTER_DS;
	op->mem.base = !no_base ? ZYDIS_REGISTER_RAX + base :
		       p->has_sib ? ZYDIS_REGISTER_NONE : ZYDIS_REGISTER_RIP;
	op->mem.index = p->has_sib && index != RSP ?
				ZYDIS_REGISTER_RAX + index :
				ZYDIS_REGISTER_NONE;
	op->mem.scale = 1 << p->scale;
	op->mem.disp.value = p->disp;
	return op;
}

/* the operand of ModRM's mod and rm: a register or memory */
static void add_rm(struct common *c, unsigned width)
{
	if (c->p->mod == 3)
		add_register(c, x64_rm_field(c->p), width);
	else
		add_memory(c, width, ZYDIS_MEMOP_TYPE_MEM);
}

/* the instruction is called m and has no operands yet; returns true */
static bool begin(struct common *c, ZydisMnemonic m)
{
	c->full->in.mnemonic = m;
	return true;
}

/* the mnemonic of arithmetic operation `alu`; not of adc and sbb */
static void begin_alu(struct common *c, unsigned alu)
{
	static const ZydisMnemonic name[8] = {
		ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_OR, ZYDIS_MNEMONIC_INVALID,
		ZYDIS_MNEMONIC_INVALID, ZYDIS_MNEMONIC_AND,
		ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_CMP,
	};

	c->refused |= name[alu] == ZYDIS_MNEMONIC_INVALID;
	begin(c, name[alu]);
}

/* opcodes 00 to 3d, by their low three bits: Eb,Gb Ev,Gv Gb,Eb Gv,Ev A,I */
static bool add_alu(struct common *c, unsigned alu, unsigned form)
{
	unsigned width = form & 1 ? c->width : 8;

	begin_alu(c, alu);
	if (form >= 4) {
		add_register(c, RAX, width);
		add_imm(c, c->p->imm, width);
	} else if (form < 2) {
		add_rm(c, width);
		add_reg(c, width);
	} else {
		add_reg(c, width);
		add_rm(c, width);
	}
	return true;
}

/* 80, 81, 83: with an immediate */
static bool add_alu_imm(struct common *c, unsigned width)
{
	begin_alu(c, c->p->reg);
	add_rm(c, width);
	add_imm(c, c->p->imm, width);
	return true;
}

/* shifts of 32 or 64 bits by a constant */
static bool add_shift(struct common *c, int64_t by)
{
	static const ZydisMnemonic name[8] = {
		[4] = ZYDIS_MNEMONIC_SHL, [5] = ZYDIS_MNEMONIC_SHR,
		[7] = ZYDIS_MNEMONIC_SAR,
	};

	add_rm(c, c->width);
	add_imm(c, by, 8);
	c->refused |= !name[c->p->reg] || c->width < 32;
	return begin(c, name[c->p->reg]);
}

/* pushes and pops are of 64 bits */
static bool begin_stack(struct common *c, ZydisInstructionCategory category)
{
	c->full->in.meta.category = category;
	c->full->in.operand_width = 64;
	c->refused |= c->p->pre & PRE_66;
	return true;
}

/* f6, f7 */
static bool add_unary(struct common *c, unsigned width)
{
	static const ZydisMnemonic name[8] = {
		ZYDIS_MNEMONIC_TEST, [2] = ZYDIS_MNEMONIC_NOT,
		[3] = ZYDIS_MNEMONIC_NEG,
	};

	add_rm(c, width);
	if (c->p->reg == 0)
		add_imm(c, c->p->imm, width);
	c->refused |= !name[c->p->reg];
	return begin(c, name[c->p->reg]);
}

/* fe, ff */
static bool add_step(struct common *c, unsigned width)
{
	switch (c->p->reg) {
	case 0:
	case 1:
		add_rm(c, width);
		return begin(c, c->p->reg ? ZYDIS_MNEMONIC_DEC :
					    ZYDIS_MNEMONIC_INC);
	case 2:
	case 4:
		add_rm(c, 64);
		return begin(c, ZYDIS_MNEMONIC_JMP);
	case 6:
		add_rm(c, 64);
		return begin_stack(c, ZYDIS_CATEGORY_PUSH);
	default:
		return false;
	}
}

/* mov and test of a register, and the other way round */
static bool add_two(struct common *c, ZydisMnemonic m, unsigned width,
		    bool to_reg)
{
	if (to_reg)
		add_reg(c, width);
	add_rm(c, width);
	if (!to_reg)
		add_reg(c, width);
	return begin(c, m);
}

/* 8d */
static bool add_lea(struct common *c)
{
	if (c->p->mod == 3)
		return false;
	add_reg(c, c->width);
	add_memory(c, c->width, ZYDIS_MEMOP_TYPE_AGEN);
	return begin(c, ZYDIS_MNEMONIC_LEA);
}

/* opcodes of one byte */
static bool add_one(struct common *c)
{
	const struct x64_parts *p = c->p;
	unsigned op = p->opcode, width = op & 1 ? c->width : 8;

	if (op < 0x40 && (op & 7) < 6)
		return add_alu(c, op >> 3, op & 7);
	switch (op) {
	case 0x50 ... 0x57:
		add_low(c, 64);
		return begin_stack(c, ZYDIS_CATEGORY_PUSH);
	case 0x58 ... 0x5f:
		add_low(c, 64);
		return begin_stack(c, ZYDIS_CATEGORY_POP);
	case 0x63: /* movsxd */
		add_reg(c, 64);
		add_rm(c, 32);
		return begin(c, ZYDIS_MNEMONIC_MOVSXD) && c->width == 64;
	case 0x68:
	case 0x6a:
		add_imm(c, p->imm, 64);
		return begin_stack(c, ZYDIS_CATEGORY_PUSH);
	case 0x69:
	case 0x6b:
		add_two(c, ZYDIS_MNEMONIC_IMUL, c->width, true);
		add_imm(c, p->imm, c->width);
		return true;
	case 0x80:
	case 0x81:
		return add_alu_imm(c, width);
	case 0x83:
		return add_alu_imm(c, c->width);
	case 0x84:
	case 0x85:
		return add_two(c, ZYDIS_MNEMONIC_TEST, width, false);
	case 0x88:
	case 0x89:
		return add_two(c, ZYDIS_MNEMONIC_MOV, width, false);
	case 0x8a:
	case 0x8b:
		return add_two(c, ZYDIS_MNEMONIC_MOV, width, true);
	case 0x8d:
		return add_lea(c);
	case 0xa8:
	case 0xa9:
		add_register(c, RAX, width);
		add_imm(c, p->imm, width);
		return begin(c, ZYDIS_MNEMONIC_TEST);
	case 0xb0 ... 0xb7:
		add_low(c, 8);
		add_imm(c, p->imm, 8);
		return begin(c, ZYDIS_MNEMONIC_MOV);
	case 0xb8 ... 0xbf:
		add_low(c, c->width);
		add_imm(c, p->imm, c->width);
		return begin(c, ZYDIS_MNEMONIC_MOV);
	case 0xc1:
		return add_shift(c, p->imm);
	case 0xd1:
		return add_shift(c, 1);
	case 0xc3:
		c->full->op[0].type = ZYDIS_OPERAND_TYPE_UNUSED;
		return begin(c, ZYDIS_MNEMONIC_RET);
	case 0xc6:
	case 0xc7:
		add_rm(c, width);
		add_imm(c, p->imm, width);
		return begin(c, ZYDIS_MNEMONIC_MOV) && p->reg == 0;
	case 0xe8:
	case 0xe9:
	case 0xeb:
		return begin(c, ZYDIS_MNEMONIC_JMP);
	case 0x70 ... 0x7f:
		c->in->cond = x64_cond(op);
		return true;
	case 0xf6:
	case 0xf7:
		return add_unary(c, width);
	case 0xfe:
	case 0xff:
		return add_step(c, width);
	default:
		return false;
	}
}

/* setcc: what it writes may be unknown */
static bool add_set(struct common *c)
{
	c->full->in.meta.category = ZYDIS_CATEGORY_SETCC;
	if (c->p->mod != 3) {
		add_memory(c, 8, ZYDIS_MEMOP_TYPE_MEM)->actions =
			ZYDIS_OPERAND_ACTION_WRITE;
		c->in->mem_write = 1;
		return true;
	}
	add_rm(c, 8);
	c->in->writes = REG(x64_rm_field(c->p));
	return true;
}

/* moves of a whole vector register */
static bool add_vector_move(struct common *c, bool stores)
{
	if (!stores || c->p->mod == 3)
		return true;
	add_memory(c, 128, ZYDIS_MEMOP_TYPE_MEM)->actions =
		ZYDIS_OPERAND_ACTION_WRITE;
	c->in->mem_write = 16;
	return true;
}

/* opcodes behind 0f */
static bool add_0f(struct common *c)
{
	unsigned op = c->p->opcode;

	switch (op) {
	case 0x10:
	case 0x11:
	case 0x28:
	case 0x29:
		return add_vector_move(c, op & 1);
	case 0x40 ... 0x4f:
		c->full->in.meta.category = ZYDIS_CATEGORY_CMOV;
		return add_two(c, ZYDIS_MNEMONIC_INVALID, c->width, true) &&
		       x64_cond(op) != COND_OTHER;
	case 0x80 ... 0x8f:
		c->in->cond = x64_cond(op);
		return true;
	case 0x90 ... 0x9f:
		return add_set(c);
	case 0xaf:
		return add_two(c, ZYDIS_MNEMONIC_IMUL, c->width, true);
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		add_reg(c, c->width);
		add_rm(c, op & 1 ? 16 : 8);
		return begin(c, op < 0xb8 ? ZYDIS_MNEMONIC_MOVZX :
					    ZYDIS_MNEMONIC_MOVSX);
	default:
		return false;
	}
}

bool x64_operands_common(const uint8_t *code, size_t avail, uint64_t addr,
			 struct x64_full *full, struct insn *in)
{
	struct x64_parts p;
	struct common c = {.p = &p, .full = full, .in = in};
	bool known;

	if (!x64_parts_fast(code, avail, &p) ||
	    p.pre & (PRE_F2 | PRE_F3 | PRE_FSGS))
		return false;
	x64_classify(&p, addr, in);
	if (in->kind == INSN_BAD)
		return false;
	c.width = p.rex & 8 ? 64 : p.pre & PRE_66 ? 16 : 32;
	full->in.mnemonic = ZYDIS_MNEMONIC_INVALID;
	full->in.meta.category = ZYDIS_CATEGORY_INVALID;
	full->in.attributes = 0;
	full->in.opcode = p.opcode;
	full->in.address_width = 64;
	full->in.operand_count = full->in.operand_count_visible = 0;
	known = p.map == ZYDIS_OPCODE_MAP_0F ? add_0f(&c) : add_one(&c);
	return known && !c.refused;
}
