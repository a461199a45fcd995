/*
 * a64 append: appends bits to the thread's word of a trace (abi/trace.h).
 *
 *	adrp	a, page
 *	ldr	b, [a, #low]
 *	lsl	b, b, #n
 *	add	b, b, #c		unless it is 0
 *	str	b, [a, #low]
 *	lsr	b, b, #56
 *	cbz	b, 1f
 *	str	x30, [sp, #-16]!
 *	bl	routine			there is no room for APPEND_STEP more
 *	ldr	x30, [sp], #16
 * 1:
 *
 * and from the load on once more if there are more bits than that. No flag
 * changes. It begins as additions do (counter.c), and so can be made to ask
 * which thread it is; or it does so at once. There may be none then, before a
 * static program has made its first one's memory:
 *
 *	adrp	a, page
 *	mrs	b, tpidr_el0
 *	cbz	b, 1f
 *	ldr	b, [b, #8]
 * 1:	add	a, a, b			or sub
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	OP_MRS_TPIDR = 0xd53bd040,
	OP_CBZ = 0xb4000000,
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_STR = 0xf9000000,
	OP_ADD_REG = 0x8b000000,
	OP_SUB_REG = 0xcb000000,
	OP_ADD_IMM = 0x91000000, /* add xd, xn, #imm12 */
	OP_UBFM = 0xd3400000,	 /* ubfm xd, xn, #immr, #imms */
	STR_PRE_16 = 0xf81f0ffe, /* str x30, [sp, #-16]! */
	LDR_POST_16 = 0xf84107fe,
	OP_BL = 0x94000000,
	BL_REACH = 1 << 27,
	SLOT = 1, /* words behind the thread pointer's own */
	FULL = 56,
	CALL_WORDS = 3,
};

unsigned a64_put_thread(bool subtract, unsigned a, unsigned b, uint8_t *out,
			unsigned n)
{
	n = a64_append(out, n, OP_MRS_TPIDR | b);
	n = a64_append(out, n, OP_CBZ | 2 << 5 | b);
	n = a64_append(out, n, OP_LDR | SLOT << 10 | b << 5 | b);
	return a64_append(out, n, (subtract ? OP_SUB_REG : OP_ADD_REG) |
					  b << 16 | a << 5 | a);
}

/* if the word is full; it is in b. *good: the routine is in reach */
static unsigned put_flush(const struct append *x, uint64_t at, unsigned b,
			  uint8_t *out, unsigned n, bool *good)
{
	int64_t d;

	n = a64_append(out, n, OP_UBFM | FULL << 16 | 63 << 10 | b << 5 | b);
	n = a64_append(out, n, OP_CBZ | (CALL_WORDS + 1) << 5 | b);
	n = a64_append(out, n, STR_PRE_16);
	d = (int64_t)(x->routine - (at + n));
	*good &= d >= -BL_REACH && d < BL_REACH;
	n = a64_append(out, n, OP_BL | ((uint32_t)(d >> 2) & 0x3ffffff));
	return a64_append(out, n, LDR_POST_16);
}

/* k bits, c, at most APPEND_STEP */
static unsigned put_bits(const struct append *x, unsigned a, unsigned b,
			 unsigned k, unsigned c, uint8_t *out, unsigned n)
{
	uint32_t word = (uint32_t)(x->word & 0xfff) / 8 << 10 | a << 5 | b;

	n = a64_append(out, n, OP_LDR | word);
	n = a64_append(out, n, OP_UBFM | (64 - k) << 16 | (63 - k) << 10 |
				       b << 5 | b);
	if (c)
		n = a64_append(out, n, OP_ADD_IMM | c << 10 | b << 5 | b);
	return a64_append(out, n, OP_STR | word);
}

unsigned a64_append_bits(const struct append *x, uint64_t at,
			 const uint8_t *reg, uint8_t *out)
{
	unsigned a = out ? reg[0] : 0, b = out ? reg[1] : 0;
	unsigned n = 4, left = x->n;
	bool good = !out || a64_put_adrp(out, a, at, x->word);

	if (x->for_threads)
		n = a64_put_thread(x->subtract, a, b, out, n);
	while (left) {
		unsigned k = left < APPEND_STEP ? left : APPEND_STEP;
		bool near = true;

		left -= k;
		n = put_bits(x, a, b, k, x->bits >> left & ((1u << k) - 1),
			     out, n);
		n = put_flush(x, at, b, out, n, &near);
		good &= !out || near;
	}
	return good ? n : 0;
}
