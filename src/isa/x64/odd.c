/* odd: what struct isa says of is_odd. */
#include "isa/x64/x64_int.h"

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

bool x64_is_odd(const uint8_t *code, size_t avail)
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
