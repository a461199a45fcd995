/* cfi_plain: see cfi_plain.h. */
#include "rewrite/cfi_plain.h"

#include "isa/isa.h"
#include "rewrite/expression.h"

/* bytes of code that rows are made for: stubs that stay together are few */
enum { PLAIN_MAX = 4096 };

/* finds the expression, the last thing that is said, and where it begins */
static bool find_last(struct cfi *c, struct cfa_insn *last, uint64_t *at)
{
	bool found = false;

	while (cfi_more(c)) {
		if (!cfi_step(c) || (found && c->insn.op != CFA_NOP))
			return false;
		if (c->insn.op == CFA_DEF_CFA_EXPRESSION) {
			*last = c->insn;
			*at = c->at;
			found = true;
		} else if (c->insn.block.p) {
			return false;
		}
	}
	return found;
}

/* appends what the CFA is from `at` on; *now is where the rows have come to */
static bool put_row(struct cfi *c, uint64_t *now, uint64_t at, int64_t offset)
{
	uint64_t n = at - *now;

	if (offset < 0 || !c->cie.code_align || n % c->cie.code_align)
		return false;
	buffer_uint(&c->plain, 1, CFA_ADVANCE_LOC4);
	buffer_uint(&c->plain, 4, n / c->cie.code_align);
	buffer_uint(&c->plain, 1, CFA_DEF_CFA);
	buffer_uleb(&c->plain, isa_for_elf(c->im->machine)->dwarf_sp);
	buffer_uleb(&c->plain, (uint64_t)offset);
	*now = at;
	return true;
}

/* appends what an expression, which holds from `at` on, says of [from, end) */
static bool put_rows(struct cfi *c, const struct cfa_insn *i, uint64_t at,
		     uint64_t from, uint64_t end)
{
	uint64_t sp = isa_for_elf(c->im->machine)->dwarf_sp, now = at;
	int64_t offset, before = -1;

	if (from < at)
		from = at;
	if (end > from && end - from > PLAIN_MAX)
		return false;
	for (; from < end; from++, before = offset)
		if (!expression_offset(i->block, sp, c->cie.return_reg, from,
				       &offset) ||
		    (offset != before && !put_row(c, &now, from, offset)))
			return false;
	return true;
}

/* may there be one? Most have none, and are not looked at twice */
static bool has_expression(const struct cfi *c)
{
	return cfi_more(c) && memchr(c->program.p + c->program.at,
				     CFA_DEF_CFA_EXPRESSION,
				     bytes_left(&c->program));
}

/* c->plain becomes the instructions without the expression */
static bool make_plain(struct cfi *c, uint64_t from, uint64_t end)
{
	const uint8_t *p = c->program.p + c->program.at;
	struct cfa_insn last;
	uint64_t at;

	if (!find_last(c, &last, &at))
		return false;
	c->plain.n = 0;
	buffer_bytes(&c->plain, p, (size_t)(last.p - p));
	return put_rows(c, &last, at, from, end);
}

bool cfi_open_part(struct cfi *c, const struct image *im, const struct fde *f,
		   uint64_t from, uint64_t end)
{
	uint64_t addr;
	bool plain;

	if (!cfi_open(c, im, f))
		return false;
	if (from >= end || !has_expression(c))
		return true;
	addr = bytes_addr(&c->program);
	plain = make_plain(c, from, end);
	if (!cfi_open(c, im, f))
		return false;
	/* at the same address: pointers in it are relative to where they are */
	if (plain)
		c->program = bytes_window(c->plain.at, c->plain.n, addr);
	return true;
}
