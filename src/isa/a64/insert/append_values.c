/*
 * a64 append_values: appends values of registers to a thread's trace.
 *
 *	adrp	a, page
 * again:
 *	ldr	b, [a, #low]
 *	tbnz	b, #room, 1f		is it where values may be?
 *	str	x30, [sp, #-16]!
 *	bl	routine			makes room, if it can
 *	ldr	x30, [sp], #16
 *	ldr	b, [a, #low]
 *	tbz	b, #room, 2f		it cannot
 * 1:	str	VALUE, [b], #SIZES	of all of them
 *	stur	VALUE, [b, #PLACE]	the second, seen from behind the last
 *	..
 *	str	b, [a, #low]
 * 2:
 *
 * No flag changes. Where the thread's own page is not the first one's, a is
 * made to lead there as for bits (append.c). The stack pointer's value is
 * computed in a third register, as the program has it.
 *
 * A thread that is interrupted by a signal before the last instruction begins
 * again (arch_append_values()).
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_STR = 0xf9000000,
	OP_STORE = 0x38000000, /* strb wt, [xn, #imm9], wider by bits 31:30 */
	POST_INDEX = 1 << 10,
	IMM9 = 0x1ff,
	OP_TBZ = 0x36000000,
	OP_TBNZ = 0x37000000,
	OP_ADD_FROM_SP = 0x910003e0, /* add xd, sp, #imm12 */
	STR_PRE_16 = 0xf81f0ffe,     /* str x30, [sp, #-16]! */
	LDR_POST_16 = 0xf84107fe,
	OP_BL = 0x94000000,
	BL_REACH = 1 << 27,
	IMM_MAX = 0xfff,
	ROOM_WORDS = 6, /* from one look if there is room to behind the other */
};

/* the registers of the code */
struct scratch_regs {
	unsigned a, b, c;
};

static bool has_sp(const struct append_values *x)
{
	for (unsigned i = 0; i < x->n; i++)
		if (x->reg[i] == A64_SP)
			return true;
	return false;
}

/* the store of a register of that size, at b + imm; or at b, which then goes on
   by so much */
static uint32_t store_of(unsigned value, unsigned size, unsigned b, int imm,
			 bool post)
{
	return OP_STORE | (uint32_t)__builtin_ctz(size) << 30 |
	       ((uint32_t)imm & IMM9) << 12 | (post ? POST_INDEX : 0) |
	       b << 5 | value;
}

static unsigned put_values(const struct append_values *x,
			   const struct scratch_regs *s, uint8_t *out,
			   unsigned n)
{
	int all = 0, at;

	for (unsigned i = 0; i < x->n; i++)
		all += x->size[i];
	at = -all;
	for (unsigned i = 0; i < x->n; i++) {
		unsigned value = x->reg[i];

		if (value == A64_SP) {
			n = a64_append(out, n, OP_ADD_FROM_SP |
						       x->depth << 10 | s->c);
			value = s->c;
		}
		n = a64_append(out, n, store_of(value, x->size[i], s->b,
						i ? at : all, !i));
		at += x->size[i];
	}
	return n;
}

/* tbz or tbnz of the bit, `words` on */
static unsigned put_test(const struct append_values *x, uint32_t op,
			 unsigned b, unsigned words, uint8_t *out, unsigned n)
{
	return a64_append(out, n, op | (uint32_t)x->room << 19 | words << 5 |
					  b);
}

/* if there is no room; *good: the routine is in reach */
static unsigned put_room(const struct append_values *x, uint64_t at,
			 uint8_t *out, unsigned n, bool *good)
{
	int64_t d;

	n = a64_append(out, n, STR_PRE_16);
	d = (int64_t)(x->routine - (at + n));
	*good &= !out || (d >= -BL_REACH && d < BL_REACH);
	n = a64_append(out, n, OP_BL | ((uint32_t)(d >> 2) & 0x3ffffff));
	return a64_append(out, n, LDR_POST_16);
}

unsigned a64_append_values(const struct append_values *x, uint64_t at,
			   const uint8_t *reg, uint8_t *out)
{
	const struct scratch_regs s = {
		.a = out ? reg[0] : 0,
		.b = out ? reg[1] : 0,
		.c = out && has_sp(x) ? reg[2] : 0,
	};
	uint32_t word = (uint32_t)(x->word & 0xfff) / 8 << 10 | s.a << 5 | s.b;
	unsigned n = 4, past = put_values(x, &s, NULL, 0) / 4 + 2;
	bool good = !out || (a64_put_adrp(out, s.a, at, x->word) &&
			     x->depth <= IMM_MAX);

	if (x->for_threads)
		n = a64_put_thread(x->subtract, s.a, s.b, out, n);
	n = a64_append(out, n, OP_LDR | word);
	n = put_test(x, OP_TBNZ, s.b, ROOM_WORDS, out, n);
	n = put_room(x, at, out, n, &good);
	n = a64_append(out, n, OP_LDR | word);
	n = put_test(x, OP_TBZ, s.b, past, out, n);
	n = put_values(x, &s, out, n);
	n = a64_append(out, n, OP_STR | word);
	return good ? n : 0;
}
