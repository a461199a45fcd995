/*
 * a64 routine: calls one of the routines of runtime/aarch64/calls.S.
 *
 *	stp	x16, x17, [sp, #-32]!	unless all three are dead; or
 *	str	x30, [sp, #16]		str x30, [sp, #-16]! if it alone is not
 *	adrp	x16, about
 *	add	x16, x16, #low
 *	add	x17, sp, #above		unless x16 is alone
 *	bl	routine
 *	ldr	x30, [sp, #16]
 *	ldp	x16, x17, [sp], #32
 *
 * perhaps behind a look at a word that says if it is needed.
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	ABOUT = 16,
	STACK = 17,
	PAGE = 9,
	STP_PRE_32 = 0xa9be47f0, /* stp x16, x17, [sp, #-32]! */
	LDP_POST_32 = 0xa8c247f0,
	STR_16 = 0xf9000bfe, /* str x30, [sp, #16] */
	LDR_16 = 0xf9400bfe,
	STR_PRE_16 = 0xf81f0ffe, /* str x30, [sp, #-16]! */
	LDR_POST_16 = 0xf84107fe,
	ADD_FROM_SP = 0x910003e0, /* add xd, sp, #imm12 */
	OP_BL = 0x94000000,
	IMM_MAX = 0xfff,
	BL_REACH = 1 << 27,
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_CBZ = 0xb4000000,
	GUARD = 12, /* bytes */
};

static const regset pair = (regset)1 << ABOUT | (regset)1 << STACK;
static const regset link = (regset)1 << A64_LR;

/* code that saves what is not dead; *depth: of the stack pointer then */
static unsigned put_save(regset dead, uint8_t *out, unsigned *depth)
{
	bool is_pair = (dead & pair) != pair;

	*depth = is_pair ? 32 : dead & link ? 0 : 16;
	if (is_pair)
		return a64_append(out, a64_append(out, 0, STP_PRE_32), STR_16);
	return *depth ? a64_append(out, 0, STR_PRE_16) : 0;
}

static unsigned put_restore(unsigned depth, uint8_t *out, unsigned n)
{
	if (depth == 32)
		return a64_append(out, a64_append(out, n, LDR_16), LDP_POST_32);
	return depth ? a64_append(out, n, LDR_POST_16) : n;
}

/* the call, without a guard */
static unsigned put_call(const struct routine_call *x, uint64_t at,
			 uint8_t *out)
{
	unsigned depth, n = put_save(x->dead, out, &depth);
	unsigned before = x->alone ? 8 : 12;
	int64_t d = (int64_t)(x->routine - (at + n + before));

	if (out && (x->above + depth > IMM_MAX || d < -BL_REACH ||
		    d >= BL_REACH ||
		    !a64_put_address(out + n, ABOUT, at + n, x->about)))
		return 0;
	n += 8;
	if (!x->alone)
		n = a64_append(out, n,
			       ADD_FROM_SP | (x->above + depth) << 10 | STACK);
	n = a64_append(out, n, OP_BL | ((uint32_t)(d >> 2) & 0x3ffffff));
	return put_restore(depth, out, n);
}

/* adrp x16, guard; ldr x16, [x16, #low]; cbz x16, behind it all */
static bool put_guard(const struct routine_call *x, uint64_t at, unsigned size,
		      uint8_t *out)
{
	uint32_t low = (uint32_t)(x->guard & 0xfff) / 8;

	if (!a64_put_adrp(out, ABOUT, at, x->guard))
		return false;
	a64_put_word(out, 1, OP_LDR | low << 10 | ABOUT << 5 | ABOUT);
	a64_put_word(out, 2, OP_CBZ | (size / 4 - 2) << 5 | ABOUT);
	return true;
}

unsigned a64_routine_call(const struct routine_call *x, uint64_t at,
			  uint8_t *out)
{
	/* without a register for it, it is always made */
	bool guarded = x->guarded && x->dead >> ABOUT & 1;
	unsigned lead = guarded ? GUARD : 0, n;

	n = put_call(x, at + lead, out ? out + lead : NULL);
	if (!n || (guarded && out && !put_guard(x, at, lead + n, out)))
		return 0;
	return lead + n;
}

/* an adrp of x9 */
bool a64_routine_page(uint8_t *code, uint64_t at, uint64_t start,
		      uint64_t page)
{
	(void)start;
	return a64_put_adrp(code, PAGE, at, page);
}
