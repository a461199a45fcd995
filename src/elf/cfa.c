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
#include "elf/unwind_int.h"

enum {
	/* saved states; compilers nest 1 deep */
	REMEMBER_MAX = 64,
	/* initial instructions; real ones have a few. Run for every FDE, so a
	   long one could make reading all of them quadratic */
	INITIAL_MAX = 1024,
};

/* the two high bits, or the whole byte if they are 0 */
enum cfa_op {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ADVANCE_LOC8 = 0x1d,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_ARGS_SIZE = 0x2e,
	CFA_NEGATIVE_OFFSET_EXTENDED = 0x2f,
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

/* the same, by a distance in units of code_align */
static bool cfa_advance(struct cfa *m, uint64_t distance)
{
	uint64_t addr;

	if (__builtin_mul_overflow(distance, m->cie->code_align, &addr) ||
	    __builtin_add_overflow(addr, m->row.start, &addr))
		return false;
	return cfa_move_to(m, addr);
}

/* the same, to an encoded address */
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
static int64_t cfa_factored(const struct cfa *m, struct bytes *b)
{
	return (int64_t)(bytes_sleb(b) * (uint64_t)m->cie->data_align);
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

/* steps over a DWARF expression */
static void cfa_skip_block(struct bytes *b)
{
	bytes_take(b, bytes_uleb(b));
}

/* instructions about the CFA; false if op is not one of them or fails */
static bool cfa_step_cfa(struct cfa *m, uint8_t op, struct bytes *b)
{
	switch (op) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
		m->row.known = true;
		cfa_set_reg(m, bytes_uleb(b));
		m->row.offset = op == CFA_DEF_CFA ? (int64_t)bytes_uleb(b)
						  : cfa_factored(m, b);
		return true;
	case CFA_DEF_CFA_REGISTER:
		/* after an expression too: the last offset holds, as libgcc */
		m->row.known = true;
		cfa_set_reg(m, bytes_uleb(b));
		return true;
	case CFA_DEF_CFA_OFFSET:
		m->row.offset = (int64_t)bytes_uleb(b);
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		m->row.offset = cfa_factored(m, b);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		m->row.known = false;
		cfa_skip_block(b);
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

/* instructions about registers; false if op is not one of them */
static bool cfa_step_register(struct cfa *m, uint8_t op, struct bytes *b)
{
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE:
		return true;
	case CFA_OFFSET_EXTENDED:
	case CFA_REGISTER:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_NEGATIVE_OFFSET_EXTENDED:
		cfa_save_reg(m, bytes_uleb(b));
		bytes_uleb(b);
		return true;
	case CFA_UNDEFINED:
		cfa_save_reg(m, bytes_uleb(b));
		return true;
	case CFA_RESTORE_EXTENDED:
	case CFA_SAME_VALUE:
		cfa_restore_reg(m, bytes_uleb(b));
		return true;
	case CFA_ARGS_SIZE:
		bytes_uleb(b);
		return true;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		cfa_save_reg(m, bytes_uleb(b));
		cfa_skip_block(b);
		return true;
	default:
		return false;
	}
}

/* runs one instruction; false if it is not understood */
static bool cfa_step(struct cfa *m, struct bytes *b)
{
	uint8_t op = bytes_u8(b);

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return cfa_advance(m, op & 0x3f);
	case CFA_OFFSET:
		cfa_save_reg(m, op & 0x3f);
		bytes_uleb(b);
		return true;
	case CFA_RESTORE:
		cfa_restore_reg(m, op & 0x3f);
		return true;
	}
	switch (op) {
	case CFA_SET_LOC:
		return cfa_set_loc(m, b);
	case CFA_ADVANCE_LOC1:
		return cfa_advance(m, bytes_uint(b, 1));
	case CFA_ADVANCE_LOC2:
		return cfa_advance(m, bytes_uint(b, 2));
	case CFA_ADVANCE_LOC4:
		return cfa_advance(m, bytes_uint(b, 4));
	case CFA_ADVANCE_LOC8:
		return cfa_advance(m, bytes_uint(b, 8));
	}
	return cfa_step_register(m, op, b) || cfa_step_cfa(m, op, b);
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
