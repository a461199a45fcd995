/*
 * a64 lift: an instruction's effect as micro-operations (isa/uop.h).
 *
 * Integer arithmetic, moves, bit fields, selects, comparisons, branches and all
 * loads and stores whose address is computed from general registers are
 * modelled exactly (lift_data.c, lift_memory.c, branches here). The rest
 * follows from decode(): each register and the flags that it says are written
 * become UOP_OTHER, memory written UOP_STORE or UOP_CLOBBER.
 *
 * What is not known is a single CLOBBER (isa.h): UOP_MAX has no room to list
 * all registers.
 */
#include "isa/a64/lift/lift.h"

/* append a branch when cond holds for the flags in `flags` */
static void a64_branch_on(struct lifter *l, unsigned flags, unsigned cond)
{
	l->width = 64;
	a64_put(l, UOP_BRANCH, UOP_NONE, flags, UOP_NONE, 0)->cond =
		(uint8_t)cond;
}

/* conditional branches: by flags, or by a comparison of their own */
static void a64_lift_cond_branch(struct lifter *l)
{
	uint32_t w = l->w;
	unsigned rt = a64_src(a64_rd(w)), bit;

	if (a64_bits(w, 30, 26) == 0x15) { /* b.cond */
		a64_branch_on(l, UOP_FLAGS, l->in->cond);
		return;
	}
	if (a64_bits(w, 30, 25) == 0x1b) { /* tbz tbnz */
		bit = a64_bits(w, 23, 19) | (w >> 31) << 5;
		l->width = 64;
		a64_put(l, UOP_TEST, UOP_TMP0, rt, UOP_IMM, UINT64_C(1) << bit);
	} else if (a64_bits(w, 30, 25) == 0x1a) { /* cbz cbnz */
		a64_put(l, UOP_CMP, UOP_TMP0, rt, UOP_IMM, 0);
	} else if (a64_bit(w, 24)) { /* cb<cc> immediate */
		a64_put(l, UOP_CMP, UOP_TMP0, rt, UOP_IMM, a64_bits(w, 20, 15));
	} else { /* cb<cc> of words, bytes, halves */
		if (a64_bit(w, 15))
			l->width = a64_bit(w, 14) ? 16 : 8;
		a64_put(l, UOP_CMP, UOP_TMP0, rt, a64_src(a64_rm(w)), 0);
	}
	a64_branch_on(l, UOP_TMP0, l->in->cond);
}

/*
 * br blr, and their authenticated forms: those jump to what is left of the
 * pointer after authentication, which is unknown
 */
static void a64_lift_branch_reg(struct lifter *l)
{
	unsigned rn = a64_rn(l->w), target = a64_src(rn);

	l->width = 64;
	if (a64_bit(l->w, 11)) {
		target = UOP_TMP0;
		a64_other(l, target);
	} else if (l->in->writes & a64_x(rn)) { /* blr x30 */
		target = UOP_TMP0;
		a64_copy(l, target, rn, 0);
	}
	a64_generic(l);
	a64_put(l, UOP_JUMP, UOP_NONE, target, UOP_NONE, 0);
}

/* branches, exceptions and system instructions */
static void a64_lift_branch(struct lifter *l)
{
	switch (l->in->kind) {
	case INSN_COND:
		a64_lift_cond_branch(l);
		return;
	case INSN_IJUMP:
	case INSN_ICALL:
		a64_lift_branch_reg(l);
		return;
	default:
		a64_generic(l);
	}
}

unsigned a64_lift_scanned(const uint8_t *code, size_t avail, uint64_t addr,
			  struct insn *scanned, struct uop *out)
{
	struct lifter l = {.in = scanned, .out = out, .width = 64};

	a64_decode(code, avail, addr, scanned);
	if (scanned->kind == INSN_UNKNOWN || scanned->kind == INSN_BAD) {
		a64_put(&l, UOP_CLOBBER, UOP_NONE, UOP_NONE, UOP_NONE, 0);
		return l.n;
	}
	l.w = a64_word(code);
	l.width = l.w >> 31 ? 64 : 32;
	switch (a64_bits(l.w, 28, 25)) {
	case 8:
	case 9:
		a64_lift_data_imm(&l);
		break;
	case 10:
	case 11:
		a64_lift_branch(&l);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		a64_lift_memory(&l);
		break;
	case 5:
	case 13:
		a64_lift_data_reg(&l);
		break;
	default:
		a64_generic(&l);
	}
	return l.n;
}

unsigned a64_lift(const uint8_t *code, size_t avail, uint64_t addr,
		  struct uop *out)
{
	struct insn in;

	return a64_lift_scanned(code, avail, addr, &in, out);
}
