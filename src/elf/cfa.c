/*
 * cfa: where the canonical frame address is, address by address.
 *
 * An FDE's instructions are a program that writes a table: for each code
 * address, how to find the CFA and the saved registers. We run it for the CFA
 * and for which registers are saved, not for where they are. The CIE's
 * instructions run first and make the first row.
 *
 * Every instruction must be understood, at least in length: after one that
 * is not, nothing can be known. So we stop there and say so.
 */
#include "elf/cfa_op.h"
#include "elf/cie.h"

enum {
	/* saved states; compilers nest 1 deep */
	REMEMBER_MAX = 64,
	/* initial instructions; real ones have a few. Run for every FDE, so a
	   long one could make reading all of them quadratic */
	INITIAL_MAX = 1024,
};

/* the program's state */
struct cfa {
	const struct image *im;
	const struct cie *cie;
	const struct fde *fde;
	struct cfa_row row;
	struct cfa_row saved[REMEMBER_MAX];
	unsigned nsaved;
	uint32_t initial; /* registers saved by the CIE's instructions */
	cfa_rows *rows; /* NULL while the CIE's instructions run */
};

/* appends the current row, in place of one at the same address */
static void cfa_emit(struct cfa *m)
{
	cfa_rows *rows = m->rows;
	const struct cfa_row *last;

	if (m->row.start == m->fde->end)
		return;
	if (rows->n && rows->at[rows->n - 1].start == m->row.start)
		rows->n--;
	last = rows->n ? &rows->at[rows->n - 1] : NULL;
	if (last && last->known == m->row.known &&
	    (!last->known ||
	     (last->reg == m->row.reg && last->offset == m->row.offset &&
	      last->saved == m->row.saved)))
		return;
	vec_push(rows, m->row);
}

/* the following instructions are about addr; false if it is out of order */
static bool cfa_move_to(struct cfa *m, uint64_t addr)
{
	if (!m->rows || addr < m->row.start || addr > m->fde->end)
		return false;
	cfa_emit(m);
	m->row.start = addr;
	return true;
}

/* moves on by a distance in units of code_align; false if out of order */
static bool cfa_advance(struct cfa *m, uint64_t distance)
{
	uint64_t addr;

	if (__builtin_mul_overflow(distance, m->cie->code_align, &addr) ||
	    __builtin_add_overflow(addr, m->row.start, &addr))
		return false;
	return cfa_move_to(m, addr);
}

/* moves on to an encoded address; false if it is out of order */
static bool cfa_set_loc(struct cfa *m, struct bytes *b)
{
	struct pointer_base base = {.func = m->fde->start};
	uint64_t addr;

	return pointer_read(b, m->im, m->cie->fde_encoding, &base, &addr) &&
	       cfa_move_to(m, addr);
}

/* CFA = reg + ...; registers beyond 255 are not representable */
static void cfa_set_reg(struct cfa *m, uint64_t reg)
{
	m->row.reg = (uint8_t)reg;
	if (reg > UINT8_MAX)
		m->row.known = false;
}

/* a signed offset in units of data_align */
static int64_t cfa_factored(const struct cfa *m, uint64_t value)
{
	return (int64_t)(value * (uint64_t)m->cie->data_align);
}

/* saves the current row's CFA; false if there are too many */
static bool cfa_remember(struct cfa *m)
{
	if (m->nsaved == REMEMBER_MAX)
		return false;
	m->saved[m->nsaved++] = m->row;
	return true;
}

/* the CFA saved last, for the current address; false if none was saved */
static bool cfa_restore(struct cfa *m)
{
	uint64_t start = m->row.start;

	if (!m->nsaved)
		return false;
	m->row = m->saved[--m->nsaved];
	m->row.start = start;
	return true;
}

/* instructions about the CFA; false if i is not one of them or fails */
static bool cfa_step_cfa(struct cfa *m, const struct cfa_insn *i)
{
	switch (i->op) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
		m->row.known = true;
		cfa_set_reg(m, i->arg[0]);
		m->row.offset = i->op == CFA_DEF_CFA ?
					(int64_t)i->arg[1] :
					cfa_factored(m, i->arg[1]);
		return true;
	case CFA_DEF_CFA_REGISTER:
		/* after an expression too: the last offset holds, as libgcc */
		m->row.known = true;
		cfa_set_reg(m, i->arg[0]);
		return true;
	case CFA_DEF_CFA_OFFSET:
		m->row.offset = (int64_t)i->arg[0];
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		m->row.offset = cfa_factored(m, i->arg[0]);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		m->row.known = false;
		return true;
	case CFA_REMEMBER_STATE:
		return cfa_remember(m);
	case CFA_RESTORE_STATE:
		return cfa_restore(m);
	default:
		return false;
	}
}

/* register reg has a rule from here on */
static void cfa_save_reg(struct cfa *m, uint64_t reg)
{
	if (reg < 32)
		m->row.saved |= (uint32_t)1 << reg;
}

/* register reg has the rule that the CIE gave it, if any */
static void cfa_restore_reg(struct cfa *m, uint64_t reg)
{
	if (reg < 32)
		m->row.saved &= m->initial | ~((uint32_t)1 << reg);
}

/* instructions about registers; false if i is not one of them */
static bool cfa_step_register(struct cfa *m, const struct cfa_insn *i)
{
	switch (i->op) {
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE:
	case CFA_ARGS_SIZE:
		return true;
	case CFA_OFFSET:
	case CFA_OFFSET_EXTENDED:
	case CFA_REGISTER:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_NEGATIVE_OFFSET_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		cfa_save_reg(m, i->arg[0]);
		return true;
	case CFA_RESTORE:
	case CFA_RESTORE_EXTENDED:
	case CFA_SAME_VALUE:
		cfa_restore_reg(m, i->arg[0]);
		return true;
	default:
		return false;
	}
}

/* runs one instruction; false if it is not understood */
static bool cfa_step(struct cfa *m, struct bytes *b)
{
	struct cfa_insn i;

	if (!cfa_insn_read(b, &i))
		return false;
	switch (i.op) {
	case CFA_SET_LOC:
		return cfa_set_loc(m, b);
	case CFA_ADVANCE_LOC:
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
	case CFA_ADVANCE_LOC8:
		return cfa_advance(m, i.arg[0]);
	}
	return cfa_step_register(m, &i) || cfa_step_cfa(m, &i);
}

/* runs a program to its end; false if it is not understood */
static bool cfa_run(struct cfa *m, struct bytes *b)
{
	while (bytes_left(b))
		if (!cfa_step(m, b) || b->bad)
			return false;
	return true;
}

int unwind_rows(const struct image *im, const struct fde *f, cfa_rows *rows)
{
	struct cie cie;
	struct bytes program;
	struct cfa m = {.im = im, .cie = &cie, .fde = f};
	bool ok;

	rows->n = 0;
	m.row.start = f->start;
	if (!fde_program(im, f, &cie, &program) ||
	    bytes_left(&cie.program) > INITIAL_MAX ||
	    !cfa_run(&m, &cie.program)) {
		m.row = (struct cfa_row){.start = f->start};
		vec_push(rows, m.row);
		return -1;
	}
	m.rows = rows;
	m.initial = m.row.saved;
	ok = cfa_run(&m, &program);
	m.row.known &= ok;
	cfa_emit(&m);
	return ok ? 0 : -1;
}
