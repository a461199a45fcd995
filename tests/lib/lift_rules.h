/*
 * lift_rules: what isa.h and uop.h promise of the end of every list of uops,
 * on every machine.
 */
#ifndef TESTS_LIFT_RULES_H
#define TESTS_LIFT_RULES_H

#include <stdbool.h>

#include "isa/isa.h"
#include "isa/uop.h"

/* the n uops of an instruction end as its kind wants it */
static inline bool lift_ends_well(const struct insn *i, const struct uop *u,
				  unsigned n)
{
	switch (i->kind) {
	case INSN_BAD:
	case INSN_UNKNOWN:
		return n == 1 && u[0].code == UOP_CLOBBER;
	case INSN_COND:
		return n && u[n - 1].code == UOP_BRANCH;
	case INSN_IJUMP:
	case INSN_ICALL:
		return n && u[n - 1].code == UOP_JUMP;
	case INSN_RET:
		return true;
	default:
		return !n || (u[n - 1].code != UOP_BRANCH &&
			      u[n - 1].code != UOP_JUMP);
	}
}

static inline bool uop_shifts(const struct uop *u)
{
	return u->code == UOP_SHL || u->code == UOP_SHR || u->code == UOP_SAR;
}

/* the count of shift i is below its width: a constant, or made by an AND */
static inline bool lift_shift_is_short(const struct uop *u, unsigned i)
{
	const struct uop *s = &u[i], *by = s;

	if (s->b == UOP_IMM)
		return s->imm >= 0 && s->imm < s->width;
	while (by > u)
		if ((--by)->dst == s->b)
			return s->b >= UOP_TMP0 && by->code == UOP_AND &&
			       by->b == UOP_IMM && by->imm == s->width - 1;
	return false;
}

#endif
