/* uses_frame: what struct isa promises of it, by the encoding's fields. */
#include "isa/x64/x64_int.h"

/* the opcode's reg field extends the opcode: it names no register */
static bool reg_is_opcode(const struct x64_parts *p)
{
	if (p->map != ZYDIS_OPCODE_MAP_DEFAULT)
		return p->opcode == 0x1f || p->opcode >> 4 == 9;
	return p->opcode == 0x80 || p->opcode == 0x81 || p->opcode == 0x83 ||
	       (p->opcode | 1) == 0xc1 || (p->opcode | 3) == 0xd3 ||
	       (p->opcode | 1) == 0xc7 || (p->opcode | 1) == 0xf7 ||
	       p->opcode == 0xfe || p->opcode == 0xff;
}

/* pushes, pops, leave, ret: they move the stack pointer */
static bool moves_stack(const struct x64_parts *p)
{
	return p->map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       ((p->opcode >= 0x50 && p->opcode < 0x60) ||
		p->opcode == 0x68 || p->opcode == 0x6a || p->opcode == 0xc3 ||
		p->opcode == 0xc9 || (p->opcode == 0xff && p->reg == 6));
}

/* mov of an immediate to a register that the opcode names */
static bool names_register(const struct x64_parts *p)
{
	return p->map == ZYDIS_OPCODE_MAP_DEFAULT && p->opcode >> 4 == 0xb;
}

static bool is_frame(unsigned r)
{
	return r == RSP || r == RBP;
}

bool x64_uses_frame(const uint8_t *code, size_t avail)
{
	struct x64_parts p;

	if (!x64_parts_fast(code, avail, &p) || moves_stack(&p))
		return true;
	if (names_register(&p))
		return is_frame(x64_low_field(&p));
	if (!p.has_modrm)
		return false;
	if (!reg_is_opcode(&p) && is_frame(x64_reg_field(&p)))
		return true;
	if (p.mod == 3)
		return is_frame(x64_rm_field(&p));
	/* lea: an address, and all that it is made of */
	return p.map == ZYDIS_OPCODE_MAP_DEFAULT && p.opcode == 0x8d &&
	       (p.has_sib ? is_frame(x64_base_field(&p)) ||
				    is_frame(x64_index_field(&p))
			  : is_frame(x64_rm_field(&p)));
}

/* privileged: instructions that procedures of programs do not have. */

/* a0 to a3: moves between the accumulator and an address of 64 bits */
static bool has_far_address(const ZydisDecodedInstruction *in)
{
	return in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (in->opcode & 0xfc) == 0xa0;
}

/* callees do not take arguments off the stack any more */
static bool takes_arguments(const ZydisDecodedInstruction *in)
{
	return in->mnemonic == ZYDIS_MNEMONIC_RET && in->raw.imm[0].size;
}

bool x64_is_privileged(const uint8_t *code, size_t avail)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (!x64_zydis(code, avail, &in, op))
		return true;
	if (in.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ||
	    in.mnemonic == ZYDIS_MNEMONIC_CLI ||
	    in.mnemonic == ZYDIS_MNEMONIC_STI ||
	    in.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return true;
	switch (in.meta.category) {
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SEGOP:
		return true;
	default:
		return has_far_address(&in) || takes_arguments(&in);
	}
}

/*
 * low_bytes: registers of which an instruction uses nothing but the low byte.
 *
 * `mov $1,%al` and `sete %al` leave the rest of rax, so rax is among the
 * registers that they read. For a value that cannot be in the low byte alone,
 * as an address, that is too much (cfg/live/own_reads.h).
 *
 * Only for instructions whose operands are all that they read and write, which
 * are most that have operands of one byte; for others the sets stay empty.
 */

/* the operands that Zydis names are the whole truth */
static bool is_plain(const struct x64_full *full)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_XOR:
		return true;
	default:
		return full->in.meta.category == ZYDIS_CATEGORY_SETCC;
	}
}

static bool is_low_byte(ZydisRegister reg)
{
	return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR8 &&
	       (reg < ZYDIS_REGISTER_AH || reg > ZYDIS_REGISTER_BH);
}

/* adds a register operand; returns the register if more of it is read */
static regset add_register(const ZydisDecodedOperand *op, struct insn *out)
{
	int r = x64_gpr(op->reg.value);
	regset set = r < 0 ? 0 : REG(r);
	bool read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	bool written = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	if (!is_low_byte(op->reg.value))
		return read || op->size < 32 ? set : 0;
	if (read)
		out->byte_reads |= set;
	if (written)
		out->byte_writes |= set;
	return 0;
}

static regset of_address(const ZydisDecodedOperand *op)
{
	int base = x64_gpr(op->mem.base), index = x64_gpr(op->mem.index);

	return (base < 0 ? 0 : REG(base)) | (index < 0 ? 0 : REG(index));
}

void x64_low_bytes(const struct x64_full *full, struct insn *out)
{
	regset whole = 0;

	if (!is_plain(full))
		return;
	for (unsigned i = 0; i < full->in.operand_count; i++) {
		const ZydisDecodedOperand *op = &full->op[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
			whole |= add_register(op, out);
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
			whole |= of_address(op);
	}
	out->byte_reads &= ~whole;
	out->byte_writes &= ~whole;
}
