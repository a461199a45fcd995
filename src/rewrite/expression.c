/* expression: see expression.h. */
#include "rewrite/expression.h"

enum {
	OP_ADDR = 0x03,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_CALL_FRAME_CFA = 0x9c,
};

/*
 * Operands of the operations below OP_LIT0 and from OP_REGX on: u and s are
 * LEB128, digits are bytes. NULL: not known.
 */
static const char *const low[OP_LIT0] = {
	[OP_ADDR] = "8", [0x06] = "",	   [0x08] = "1", [0x09] = "1",
	[0x0a] = "2",	 [0x0b] = "2",	   [0x0c] = "4", [0x0d] = "4",
	[0x0e] = "8",	 [0x0f] = "8",	   [0x10] = "u", [0x11] = "s",
	[0x12] = "",	 [0x13] = "",	   [0x14] = "",	 [0x15] = "1",
	[0x16] = "",	 [0x17] = "",	   [0x19] = "",	 [0x1a] = "",
	[0x1b] = "",	 [0x1c] = "",	   [0x1d] = "",	 [0x1e] = "",
	[0x1f] = "",	 [0x20] = "",	   [0x21] = "",	 [0x22] = "",
	[0x23] = "u",	 [0x24] = "",	   [0x25] = "",	 [0x26] = "",
	[0x27] = "",	 [0x28] = "2",	   [0x29] = "",	 [0x2a] = "",
	[0x2b] = "",	 [0x2c] = "",	   [0x2d] = "",	 [0x2e] = "",
	[0x2f] = "2",
};
static const char *const high[] = {
	[OP_REGX - OP_REGX] = "u",
	[OP_BREGX - OP_REGX] = "us",
	[0x94 - OP_REGX] = "1",
	[0x96 - OP_REGX] = "",
	[OP_CALL_FRAME_CFA - OP_REGX] = "",
};

enum { HIGH = sizeof high / sizeof *high };

/* the operands of an operation, or NULL */
static const char *operands_of(uint8_t op)
{
	if (op < OP_LIT0)
		return low[op];
	if (op < OP_BREG0)
		return "";
	if (op < OP_REGX)
		return "s";
	return op - OP_REGX < HIGH ? high[op - OP_REGX] : NULL;
}

/* reads the operands; returns the first that is a number */
static uint64_t operands_skip(struct bytes *b, const char *kind)
{
	uint64_t first = 0;

	for (const char *k = kind; *k; k++) {
		uint64_t v = *k == 'u' || *k == 's' ?
				     bytes_uleb(b) :
				     bytes_uint(b, (unsigned)(*k - '0'));

		if (k == kind)
			first = v;
	}
	return first;
}

bool expression_scan(struct bytes b, uint64_t sp, uint64_t pc,
		     struct expression_uses *uses)
{
	while (bytes_left(&b)) {
		uint8_t op = bytes_u8(&b);
		const char *kind = operands_of(op);
		uint64_t reg = UINT64_MAX, first;

		if (!kind)
			return false;
		first = operands_skip(&b, kind);
		if (op >= OP_REG0 && op < OP_REGX)
			reg = (op - OP_REG0) & 31;
		else if (op == OP_REGX || op == OP_BREGX)
			reg = first;
		uses->address |= op == OP_ADDR || reg == pc;
		uses->sp |= reg == sp;
	}
	return !b.bad;
}
