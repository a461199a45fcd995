/*
 * a64 site_call: tells a routine of runtime/aarch64/trace.S where a jump, call
 * or return leads.
 *
 *	stp	x16, x17, [sp, #-32]!
 *	str	x30, [sp, #16]
 *	mov	x17, TARGET		the register; or adrp and ldr of a
 *					stub's word
 *	adrp	x16, about		or movz and movk of a number
 *	add	x16, x16, #low
 *	bl	routine
 *	ldr	x30, [sp, #16]
 *	ldp	x16, x17, [sp], #32
 *
 * Of 32 bytes the last 8 are the routine's.
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	ABOUT = 16,
	TARGET = 17,
	STP_PRE_32 = 0xa9be47f0, /* stp x16, x17, [sp, #-32]! */
	LDP_POST_32 = 0xa8c247f0,
	STR_16 = 0xf9000bfe, /* str x30, [sp, #16] */
	LDR_16 = 0xf9400bfe,
	OP_MOV = 0xaa0003e0, /* mov xd, xm */
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_MOVZ = 0xd2800000,
	OP_MOVK_16 = 0xf2a00000,
	OP_BL = 0x94000000,
	BL_REACH = 1 << 27,
};

/* the register that leads there; retaa and retab have no field for theirs */
static unsigned target_reg(const struct site_call *x)
{
	unsigned r = a64_rn(a64_word(x->code));

	return x->in->kind == INSN_RET && r == A64_SP ? A64_LR : r;
}

/* the target; bytes so far, 0: out of reach */
static unsigned put_target(const struct site_call *x, uint64_t at,
			   uint8_t *out, unsigned n)
{
	if (!x->link)
		return a64_append(out, n, OP_MOV | TARGET |
					  target_reg(x) << 16);
	if (out && (x->link % 8 ||
		    !a64_put_adrp(out + n, TARGET, at + n, x->link)))
		return 0;
	return a64_append(out, n + 4, OP_LDR | TARGET << 5 | TARGET |
				      (uint32_t)(x->link & 0xfff) / 8 << 10);
}

/* the other argument */
static unsigned put_about(const struct site_call *x, uint64_t at, uint8_t *out,
			  unsigned n)
{
	uint32_t about = (uint32_t)x->about;

	if (x->number) {
		n = a64_append(out, n, OP_MOVZ | (about & 0xffff) << 5 |
					       ABOUT);
		return a64_append(out, n, OP_MOVK_16 | about >> 16 << 5 |
						  ABOUT);
	}
	if (out && !a64_put_address(out + n, ABOUT, at + n, x->about))
		return 0;
	return n + 8;
}

unsigned a64_site_call(const struct site_call *x, uint64_t at, uint8_t *out)
{
	unsigned n = a64_append(out, a64_append(out, 0, STP_PRE_32), STR_16);
	int64_t d;

	if (!(n = put_target(x, at, out, n)) || !(n = put_about(x, at, out, n)))
		return 0;
	d = (int64_t)(x->routine - (at + n));
	if (out && (d < -BL_REACH || d >= BL_REACH))
		return 0;
	n = a64_append(out, n, OP_BL | ((uint32_t)(d >> 2) & 0x3ffffff));
	n = a64_append(out, n, LDR_16);
	return a64_append(out, n, LDP_POST_32);
}
