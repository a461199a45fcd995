/*
 * unwind_check: whether the tables of a procedure can be written anew if its
 * code moves. What is not understood to the last byte keeps its code where it
 * is.
 */
#include "rewrite/unwind/unwind_out.h"

#include "isa/isa.h"
#include "rewrite/unwind/cfi_out.h"
#include "rewrite/unwind/eh_frame_out.h"
#include "rewrite/unwind/expression.h"
#include "rewrite/unwind/lsda_out.h"

/*
 * Bytes of an FDE's instructions: bounds the states that stubs may ask for.
 * The longest ones of compilers have some thousand.
 */
enum { PROGRAM_MAX = 1 << 16 };

/* NULL if the expression holds wherever the code is, else the reason */
static const char *check_block(const struct cfi *c, const uint8_t *p, size_t n)
{
	const struct isa *isa = isa_for_elf(c->im->machine);
	struct expression_uses uses = {0};

	if (!expression_scan(bytes_window(p, n, 0), isa->dwarf_sp,
			     c->cie.return_reg, &uses))
		return "its unwind entry has an unknown expression";
	if (uses.address)
		return "its frame depends on where its code is";
	if (uses.sp && uses.branch)
		return "its unwind entry has an unknown expression";
	return NULL;
}

/* NULL if the instruction just run, or the first state, may move */
static const char *check_state(const struct cfi *c, const struct cfa_insn *i)
{
	const struct isa *isa = isa_for_elf(c->im->machine);

	if ((c->at | c->fde->end) % isa->align)
		return "its unwind entry has a row inside an instruction";
	if (c->now.offset < 0)
		return "its frame begins below its register";
	if (!i)
		return NULL;
	/* inserted code that pushes would make it wrong */
	if (i->op == CFA_REGISTER && i->arg[1] == isa->dwarf_sp)
		return "its frame has a register in the stack pointer";
	return i->block.p ? check_block(c, i->block.p, i->block.n) : NULL;
}

/* NULL, or what is wrong in the rules that the CIE's instructions left */
static const char *check_initial(const struct cfi *c)
{
	const struct cfi_state *s = &c->initial;
	const char *reason = check_state(c, NULL);

	if (!reason && s->block)
		reason = check_block(c, s->block, s->block_size);
	for (unsigned i = 0; !reason && i < s->n; i++)
		if (s->rule[i].block)
			reason = check_block(c, s->rule[i].block,
					     s->rule[i].value);
	return reason;
}

/* NULL if all instructions are understood and may move */
static const char *check_program(struct cfi *c, const struct image *im,
				 const struct fde *f, uint64_t from,
				 uint64_t end)
{
	static const char unknown[] =
		"its unwind entry has unknown instructions";
	const struct isa *isa = isa_for_elf(im->machine);
	const char *reason;

	if (!cfi_open_part(c, im, f, from, end))
		return unknown;
	if (bytes_left(&c->program) > PROGRAM_MAX)
		return "its unwind entry is too long";
	if (!c->cie.code_align || isa->align % c->cie.code_align)
		return "its unwind entry counts code in unusual units";
	for (reason = check_initial(c); !reason && cfi_more(c);
	     reason = check_state(c, &c->insn))
		if (!cfi_step(c))
			return unknown;
	return reason;
}

/*
 * NULL if what the exception table points to can be where instructions begin;
 * where they have any length only the cfg knows whether they do.
 */
static const char *check_sites(const struct lsda_in *l,
			       const struct image *im)
{
	const struct isa *isa = isa_for_elf(im->machine);

	for (size_t i = 0; i < l->site.n; i++) {
		const struct call_site *s = &l->site.at[i];

		if ((s->start | s->end | s->pad) % isa->align)
			return "its exception table points into an "
			       "instruction";
	}
	return NULL;
}

const char *unwind_can_move(const struct image *im, const struct fde *f,
			    uint64_t from, uint64_t end)
{
	struct cfi c = {0};
	struct lsda_in l = {0};
	struct bytes program;
	const char *reason;

	if (f->signal_frame)
		return "it is a signal frame";
	if (!fde_program(im, f, &c.cie, &program))
		return "its unwind entry does not decode";
	reason = cie_can_write(im, &c.cie);
	if (!reason)
		reason = check_program(&c, im, f, from, end);
	if (!reason && f->lsda)
		reason = lsda_read(&l, im, f);
	if (!reason)
		reason = check_sites(&l, im);
	cfi_free(&c);
	lsda_free(&l);
	return reason;
}
