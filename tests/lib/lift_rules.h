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

#endif
