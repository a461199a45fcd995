/*
 * a64 poison: gives dead registers and flags other values.
 *
 *	movn xN, #imm		0xffff ffff ffff ....: no address, not small,
 *				negative in all widths, another one for each
 *				register
 *	mrs  xN, nzcv		flags are turned over, each one that is dead
 *	eor  xN, xN, #mask	and no other
 *	msr  nzcv, xN
 *
 * Without a dead register flags can only be set by comparisons of what has a
 * number that is known, and only if all four are dead.
 */
#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	OP_MOVN = 0x92800000,	  /* movn xd, #imm16 */
	OP_MRS_NZCV = 0xd53b4200,
	OP_MSR_NZCV = 0xd51b4200,
	OP_EOR_W = 0x52000000,	  /* eor wd, wn, #mask */
	OP_TST_ZERO = 0xea1f03ff, /* tst xzr, xzr: zero */
	OP_CMP_SP = 0xf10003ff,	  /* cmp sp, #0: carry */
	PATTERN = 0x2152,	  /* movn: ...dead */
};

/*
 * Appends code that turns flags over in register r; nzcv are its bits 31 to 28.
 * Returns how many bytes there are then.
 */
static unsigned put_flags(uint8_t *out, unsigned n, unsigned r, uint8_t flags)
{
	static const uint8_t order[4] = {FLAG_V, FLAG_C, FLAG_Z, FLAG_N};

	n = a64_append(out, n, OP_MRS_NZCV | r);
	for (unsigned i = 0; i < 4; i++) {
		unsigned run = 0;

		while (i + run < 4 && flags & order[i + run])
			run++;
		/* eor wr, wr, #(1 << (28 + i), and so on up to `run`) */
		if (run)
			n = a64_append(out, n, OP_EOR_W | (4 - i) << 16 |
						       (run - 1) << 10 |
						       r << 5 | r);
		i += run;
	}
	return a64_append(out, n, OP_MSR_NZCV | r);
}

unsigned a64_poison(regset regs, uint8_t flags, unsigned variant, uint8_t *out)
{
	unsigned n = 0;

	flags &= A64_NZCV;
	if (flags && regs)
		n = put_flags(out, n, (unsigned)__builtin_ctz(regs), flags);
	else if (flags == A64_NZCV)
		n = a64_append(out, n, variant & 1 ? OP_TST_ZERO : OP_CMP_SP);
	for (unsigned r = 0; r < 31; r++)
		if (regs >> r & 1)
			n = a64_append(out, n,
				       OP_MOVN | (PATTERN ^ r << 8) << 5 | r);
	return n;
}
