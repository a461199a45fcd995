/*
 * a64 counter: adds one to a counter in memory. No flag changes, and only two
 * registers do:
 *
 *	adrp a, page			adrp a, page
 *	ldr  b, [a, #low]		mrs  b, tpidr_el0
 *	add  b, b, #1			ldr  b, [b, #8]
 *	str  b, [a, #low]		add  a, a, b		or sub
 *					ldr  b, [a, #low]
 *					add  b, b, #1
 *					str  b, [a, #low]
 *
 * To the right, the word behind the thread pointer's own holds a difference
 * that leads to the thread's counters; it is 0 for the first thread (rewriting.
 * md 5.1). runtime/aarch64/arch.h turns the left into a jump to the right.
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

/* ldr, add, str */
static void put_increment(uint8_t *out, unsigned a, unsigned b, unsigned low)
{
	uint32_t w[3] = {
		memory_op(OP_LDR, b, a, low),
		OP_ADD_ONE | b << 5 | b,
		memory_op(OP_STR, b, a, low),
	};

	memcpy(out, w, sizeof w);
}

bool a64_count(uint64_t at, uint64_t counter, const uint8_t reg[2],
	       uint8_t *out)
{
	if (!a64_put_adrp(out, reg[0], at, counter))
		return false;
	put_increment(out + 4, reg[0], reg[1], counter & 0xfff);
	return true;
}

bool a64_count_thread(uint64_t at, uint64_t counter, const uint8_t reg[2],
		      bool subtract, uint8_t *out)
{
	unsigned a = reg[0], b = reg[1];
	uint32_t w[3] = {
		OP_MRS_TPIDR | b,
		memory_op(OP_LDR, b, b, SLOT),
		(subtract ? OP_SUB_REG : OP_ADD_REG) | b << 16 | a << 5 | a,
	};

	if (!a64_put_adrp(out, a, at, counter))
		return false;
	memcpy(out + 4, w, sizeof w);
	put_increment(out + 4 + sizeof w, a, b, counter & 0xfff);
	return true;
}
