/*
 * a64 counter: adds one to a counter in memory. The word behind the thread
 * pointer's own holds a difference that leads to the thread's counters; it is
 * 0 for the first thread, and before anybody knows of threads (rewriting.md
 * 5.1). No flag changes, and only two registers do:
 *
 *	adrp a, page
 *	mrs  b, tpidr_el0
 *	ldr  b, [b, #8]
 *	add  a, a, b		or sub
 *	ldr  b, [a, #low]
 *	add  b, b, #1
 *	str  b, [a, #low]
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

#include <string.h>

enum {
	OP_MRS_TPIDR = 0xd53bd040,
	OP_ADD_REG = 0x8b000000,
	OP_SUB_REG = 0xcb000000,
	OP_ADD_ONE = 0x91000400,
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_STR = 0xf9000000,
	SLOT = 8, /* of the thread pointer */
};

static uint32_t memory_op(uint32_t op, unsigned t, unsigned n, unsigned offset)
{
	return op | offset / 8 << 10 | n << 5 | t;
}

bool a64_count(uint64_t at, uint64_t counter, const uint8_t reg[2],
	       bool subtract, uint8_t *out)
{
	unsigned a = reg[0], b = reg[1], low = counter & 0xfff;
	uint32_t step = subtract ? OP_SUB_REG : OP_ADD_REG;
	uint32_t w[A64_COUNT_SIZE / 4 - 1] = {
		OP_MRS_TPIDR | b,
		memory_op(OP_LDR, b, b, SLOT),
		step | b << 16 | a << 5 | a,
		memory_op(OP_LDR, b, a, low),
		OP_ADD_ONE | b << 5 | b,
		memory_op(OP_STR, b, a, low),
	};

	if (!a64_put_adrp(out, a, at, counter))
		return false;
	memcpy(out + 4, w, sizeof w);
	return true;
}
