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

#include <string.h>

enum {
	OP_MOVN = 0x92800000,	  /* movn xd, #imm16 */
	OP_MRS_NZCV = 0xd53b4200,
	OP_MSR_NZCV = 0xd51b4200,
	OP_EOR_W = 0x52000000,	  /* eor wd, wn, #mask */
	OP_TST_ZERO = 0xea1f03ff, /* tst xzr, xzr: zero */
	OP_CMP_SP = 0xf10003ff,	  /* cmp sp, #0: carry */
	PATTERN = 0x2152,	  /* movn: ...dead */
	NZCV = FLAG_N | FLAG_Z | FLAG_C | FLAG_V,
};

struct words {
	uint8_t *out;
	unsigned n;
};

static void put(struct words *w, uint32_t word)
{
	if (w->out)
		memcpy(w->out + 4 * w->n, &word, sizeof word);
	w->n++;
}

/* eor wr, wr, #(1 << bit, and so on up to `bits` of them) */
static void put_turn(struct words *w, unsigned r, unsigned bit, unsigned bits)
{
	unsigned rotate = (32 - bit) % 32;

	put(w, OP_EOR_W | rotate << 16 | (bits - 1) << 10 | r << 5 | r);
}

/* turns flags over in register r; nzcv are its bits 31 to 28 */
static void put_flags(struct words *w, unsigned r, uint8_t flags)
{
	static const uint8_t order[4] = {FLAG_V, FLAG_C, FLAG_Z, FLAG_N};

	put(w, OP_MRS_NZCV | r);
	for (unsigned i = 0; i < 4; i++) {
		unsigned run = 0;

		while (i + run < 4 && flags & order[i + run])
			run++;
		if (run)
			put_turn(w, r, 28 + i, run);
		i += run;
	}
	put(w, OP_MSR_NZCV | r);
}

unsigned a64_poison(regset regs, uint8_t flags, unsigned variant, uint8_t *out)
{
	struct words w = {.out = out};

	flags &= NZCV;
	if (flags && regs)
		put_flags(&w, (unsigned)__builtin_ctz(regs), flags);
	else if (flags == NZCV)
		put(&w, variant & 1 ? OP_TST_ZERO : OP_CMP_SP);
	for (unsigned r = 0; r < 31; r++)
		if (regs >> r & 1)
			put(&w, OP_MOVN | (PATTERN ^ r << 8) << 5 | r);
	return 4 * w.n;
}
