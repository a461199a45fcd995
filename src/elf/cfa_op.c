/* cfa_op: see cfa_op.h. */
#include "elf/cfa_op.h"

/*
 * Operands by instruction: u and s are LEB128, digits are bytes, b is a block
 * with its length before it. NULL: not known.
 */
static const char *const operands[] = {
	[CFA_NOP] = "",
	[CFA_SET_LOC] = "",
	[CFA_ADVANCE_LOC1] = "1",
	[CFA_ADVANCE_LOC2] = "2",
	[CFA_ADVANCE_LOC4] = "4",
	[CFA_OFFSET_EXTENDED] = "uu",
	[CFA_RESTORE_EXTENDED] = "u",
	[CFA_UNDEFINED] = "u",
	[CFA_SAME_VALUE] = "u",
	[CFA_REGISTER] = "uu",
	[CFA_REMEMBER_STATE] = "",
	[CFA_RESTORE_STATE] = "",
	[CFA_DEF_CFA] = "uu",
	[CFA_DEF_CFA_REGISTER] = "u",
	[CFA_DEF_CFA_OFFSET] = "u",
	[CFA_DEF_CFA_EXPRESSION] = "b",
	[CFA_EXPRESSION] = "ub",
	[CFA_OFFSET_EXTENDED_SF] = "us",
	[CFA_DEF_CFA_SF] = "us",
	[CFA_DEF_CFA_OFFSET_SF] = "s",
	[CFA_VAL_OFFSET] = "uu",
	[CFA_VAL_OFFSET_SF] = "us",
	[CFA_VAL_EXPRESSION] = "ub",
	[CFA_ADVANCE_LOC8] = "8",
	[CFA_NEGATE_RA_STATE] = "",
	[CFA_ARGS_SIZE] = "u",
	[CFA_NEGATIVE_OFFSET_EXTENDED] = "uu",
};

enum { OPERANDS = sizeof operands / sizeof *operands };

/* reads one number */
static uint64_t operand_read(struct bytes *b, char kind)
{
	switch (kind) {
	case 'u':
		return bytes_uleb(b);
	case 's':
		return bytes_sleb(b);
	default:
		return bytes_uint(b, (unsigned)(kind - '0'));
	}
}

/* reads the operands that the text tells of */
static void operands_read(struct bytes *b, const char *kind, uint64_t *arg,
			  struct cfa_insn *i)
{
	for (; *kind; kind++) {
		if (*kind == 'b')
			i->block = bytes_sub(b, bytes_uleb(b));
		else
			*arg++ = operand_read(b, *kind);
	}
}

bool cfa_insn_read(struct bytes *b, struct cfa_insn *i)
{
	size_t start = b->at;
	uint8_t first = bytes_u8(b);

	*i = (struct cfa_insn){.op = first & 0xc0, .p = b->p + start};
	if (i->op) {
		i->arg[0] = first & 0x3f;
		operands_read(b, i->op == CFA_OFFSET ? "u" : "", &i->arg[1],
			      i);
	} else {
		i->op = first;
		if (first >= OPERANDS || !operands[first])
			return false;
		operands_read(b, operands[first], i->arg, i);
	}
	i->size = b->at - start;
	return !b->bad;
}
