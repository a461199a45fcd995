/*
 * cfa_op: the instructions of which unwind tables are made (DWARF 5, 6.4.2
 * and 7.24, with what GNU and AArch64 add), one at a time.
 */
#ifndef ELF_CFA_OP_H
#define ELF_CFA_OP_H

#include "base/bytes.h"

/* the two high bits, or the whole byte if they are 0 */
enum cfa_op {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ADVANCE_LOC8 = 0x1d,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_ARGS_SIZE = 0x2e,
	CFA_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct cfa_insn {
	uint8_t op; /* enum cfa_op */
	/*
	 * Its numbers in order, as encoded: for ADVANCE_LOC, OFFSET and
	 * RESTORE the first is the low bits of the byte. Signed ones are
	 * two's complement.
	 */
	uint64_t arg[2];
	struct bytes block; /* its expression */
	const uint8_t *p;   /* all of it */
	size_t size;
};

/*
 * Reads the next instruction; false if it is not known or cut off. The
 * address of CFA_SET_LOC is for the caller to read: size ends before it.
 */
bool cfa_insn_read(struct bytes *b, struct cfa_insn *i);

#endif
