/*
 * low_bytes: registers of which an instruction uses nothing but the low byte.
 *
 * `mov $1,%al` and `sete %al` leave the rest of rax, so rax is among the
 * registers that they read. For a value that cannot be in the low byte alone,
 * as an address, that is too much (cfg/own_reads.h).
 *
 * Only for instructions whose operands are all that they read and write, which
 * are most that have operands of one byte; for others the sets stay empty.
 */
#include "isa/x64/x64_int.h"

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
