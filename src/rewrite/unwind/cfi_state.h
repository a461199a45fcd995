/*
 * cfi_state: an FDE's instructions, run with everything that they say: where
 * the CFA is and where each register is, not only whether (elf/unwind.h).
 *
 *	for (ok = cfi_open(&c, im, f); ok && cfi_more(&c);)
 *		ok = cfi_step(&c);
 */
#ifndef REWRITE_UNWIND_CFI_STATE_H
#define REWRITE_UNWIND_CFI_STATE_H

#include "base/buffer.h"
#include "elf/cfa_op.h"
#include "elf/cie.h"

enum cfi_rule_kind {
	RULE_UNDEFINED,
	RULE_SAME,
	RULE_OFFSET,	 /* saved at CFA + value * data_align */
	RULE_VAL_OFFSET, /* is CFA + value * data_align */
	RULE_REGISTER,	 /* is in register `value` */
	RULE_EXPRESSION, /* saved where block[0 .. value-1] computes */
	RULE_VAL_EXPRESSION,
};

struct cfi_rule {
	uint32_t reg;
	uint8_t kind; /* enum cfi_rule_kind */
	uint64_t value;
	const uint8_t *block;
};

/* registers with a rule; a procedure that saves all has about 40 */
enum { CFI_RULES_MAX = 64 };

struct cfi_state {
	const uint8_t *block; /* computes the CFA, or NULL: reg + offset */
	size_t block_size;
	uint64_t reg;
	int64_t offset;
	uint64_t args;	/* bytes of arguments pushed (GNU_args_size) */
	bool signed_ra; /* the return address is signed (AArch64) */
	unsigned n;	/* registers without a rule are not listed */
	struct cfi_rule rule[CFI_RULES_MAX];
};

/* copies a state; what lies behind its rules is left as it is */
static inline void cfi_state_copy(struct cfi_state *to,
				  const struct cfi_state *from)
{
	memcpy(to, from, offsetof(struct cfi_state, rule) +
				 from->n * sizeof *from->rule);
}

struct cfi {
	const struct image *im;
	const struct fde *fde;
	struct cie cie;
	struct bytes program;
	struct cfa_insn insn; /* the last one run */
	uint64_t at;	      /* the old address that it is about */
	struct cfi_state now;
	struct cfi_state initial; /* what the CIE's instructions left */
	VEC(struct cfi_state) saved;
	buffer plain; /* instructions of our own: cfi_out.h */
};

/*
 * Runs the CIE's instructions; false if they are not understood. What c held
 * before is replaced; it starts zeroed.
 */
bool cfi_open(struct cfi *c, const struct image *im, const struct fde *f);
void cfi_free(struct cfi *c);
/* runs the next instruction; false if it is not understood */
bool cfi_step(struct cfi *c);

/* there is a next instruction */
static inline bool cfi_more(const struct cfi *c)
{
	return bytes_left(&c->program);
}

/* the instruction only says which address those behind it are about */
static inline bool cfa_insn_moves(const struct cfa_insn *i)
{
	return i->op == CFA_ADVANCE_LOC || i->op == CFA_SET_LOC ||
	       i->op == CFA_ADVANCE_LOC1 || i->op == CFA_ADVANCE_LOC2 ||
	       i->op == CFA_ADVANCE_LOC4 || i->op == CFA_ADVANCE_LOC8;
}

/*
 * Writes instructions that make of one state another. Both come from FDEs
 * with the same CIE, whose instructions leave `initial`. requires: no CFA
 * with a negative offset.
 */
void cfi_difference(buffer *out, const struct cfi_state *from,
		    const struct cfi_state *to,
		    const struct cfi_state *initial);

#endif
