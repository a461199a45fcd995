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
#include <string.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	OP_MRS_TPIDR = 0xd53bd040,
	OP_ADD_REG = 0x8b000000,
	OP_SUB_REG = 0xcb000000,
	OP_ADD_ONE = 0x91000400,
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_STR = 0xf9000000,
	OP_ADRP = 0x90000000,
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

bool a64_count(enum count_form f, uint64_t at, uint64_t counter,
	       const uint8_t *reg, uint8_t *out)
{
	(void)f; /* flags are never in the way */
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

/* the page that the adrp at `at` makes the address of */
static uint64_t page_of(uint32_t w, uint64_t at)
{
	uint64_t pages = (w >> 29 & 3) | (uint64_t)(w >> 5 & 0x7ffff) << 2;

	return (at >> 12 << 12) + (((pages ^ 1 << 20) - (1 << 20)) << 12);
}

/* what is written for the registers and counter that are seen is the same */
unsigned a64_count_match(const uint8_t *code, size_t size, uint64_t at,
			 uint64_t *counter)
{
	uint8_t out[A64_COUNT_THREAD_SIZE], reg[2];
	uint32_t w[A64_COUNT_THREAD_SIZE / 4] = {0};
	bool thread, good;
	unsigned n;

	memcpy(w, code, size < sizeof w ? size : sizeof w);
	if ((w[0] & 0x9f000000) != OP_ADRP)
		return 0;
	reg[0] = w[0] & 31;
	reg[1] = w[1] & 31;
	thread = w[1] == (OP_MRS_TPIDR | reg[1]);
	n = thread ? A64_COUNT_THREAD_SIZE : A64_COUNT_SIZE;
	*counter = page_of(w[0], at) + (w[thread ? 4 : 1] >> 10 & 0xfff) * 8;
	good = thread ? a64_count_thread(at, *counter, reg,
					 w[3] >> 24 == OP_SUB_REG >> 24, out) :
			a64_count(COUNT_KEEPS, at, *counter, reg, out);
	return good && size >= n && !memcmp(out, code, n) ? n : 0;
}

/*
 * a64 link: stubs of the linker.
 *
 *	stub    adrp x16, page           new    adr x16, word
 *	        ldr x17, [x16, #low]            ldr x17, [x16]
 *	        add x16, x16, #low              br x17
 *	        br x17
 *
 * Both leave the word's address in x16, by which the loader's binder knows
 * what to bind. Stubs of another form (with branch protection) are not known.
 */

enum {
	OP_ADRP_X16 = 0x90000010,
	OP_LDR_X17 = 0xf9400211, /* ldr x17, [x16, #imm12 * 8] */
	OP_ADD_X16 = 0x91000210, /* add x16, x16, #imm12 */
	OP_BR_X17 = 0xd61f0220,
	X16 = 16,
	IMM12 = 0xfff << 10,
};

uint64_t a64_link_match(const uint8_t *code, size_t size, uint64_t addr)
{
	uint32_t w[4];
	uint64_t low;

	if (size < sizeof w)
		return 0;
	for (unsigned i = 0; i < 4; i++)
		w[i] = a64_word(code + 4 * i);
	low = (uint64_t)a64_bits(w[1], 21, 10) * 8;
	if ((w[0] & 0x9f00001f) != OP_ADRP_X16 ||
	    (w[1] & ~(uint32_t)IMM12) != OP_LDR_X17 ||
	    (w[2] & ~(uint32_t)IMM12) != OP_ADD_X16 || w[3] != OP_BR_X17 ||
	    a64_bits(w[2], 21, 10) != low)
		return 0;
	return page_of(w[0], addr) + low;
}

bool a64_link_write(uint64_t at, uint64_t word, uint8_t *out)
{
	a64_put_word(out, 1, OP_LDR_X17);
	a64_put_word(out, 2, OP_BR_X17);
	return a64_put_near(out, X16, at, word);
}
