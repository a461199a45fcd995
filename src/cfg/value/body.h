/*
 * body: what is kept of a procedure while its jumps are looked at.
 *
 * Jumps are resolved in rounds, and with each round blocks and edges change
 * (view). Instructions and the unwind table's rows do not: they are read once,
 * a block at a time, and kept here.
 */
#ifndef CFG_VALUE_BODY_H
#define CFG_VALUE_BODY_H

#include "cfg/build.h"
#include "isa/uop.h"

/*
 * frame: where the stack pointer stands, by the unwind table.
 *
 * The unwind table gives, for every instruction that an FDE covers, the
 * canonical frame address (CFA) as a register plus an offset. At a
 * procedure's entry the CFA is the stack pointer plus isa->entry_cfa, so a
 * row that names the stack or frame pointer tells that register's value in
 * terms of the stack pointer at entry, without looking at any instruction.
 */

struct frames {
	const struct isa *isa;
	cfa_rows row; /* by start; where no FDE covers: not known */
};

/*
 * What must be added to the stack pointer at entry to get register r (the
 * stack or frame pointer) at addr; false if the table does not tell.
 */
bool frames_offset(const struct frames *f, uint64_t addr, unsigned r,
		   int64_t *offset);

/* the table says that at addr the frame pointer is still the caller's */
bool frames_fp_untouched(const struct frames *f, uint64_t addr);

/* an instruction, lifted */
struct lifted_insn {
	uint32_t at;  /* its offset */
	uint32_t uop; /* first one, in body.uop */
	uint8_t nuop, len, kind;
};

/* a block of the procedure, as it was cut last */
struct body_block {
	uint32_t insn, ninsn; /* in body.insn; 0: not read yet */
	uint64_t sets; /* operands that become something else, a bit each */
	bool stores;   /* changes memory */
};

struct body {
	const struct build *b;
	const uint32_t *piece; /* by offset */
	uint32_t npiece;
	struct frames frames;
	enum { ESCAPES_NEW, ESCAPES, ESCAPES_NOT } escapes; /* escape.c */
	cuts cut; /* the blocks */
	struct body_block *block;
	VEC(struct lifted_insn) insn;
	VEC(struct uop) uop;
};

void body_init(struct body *y, const struct build *b, const uint32_t *piece,
	       uint32_t npiece);
void body_free(struct body *y);

/* takes the blocks as they are cut now; keeps what was read of the same ones */
void body_set_blocks(struct body *y, const cuts *cut);
/* block k with its instructions lifted; there for good, but not these */
const struct body_block *body_block(struct body *y, uint32_t k);

/*
 * Only the procedure itself can reach what it keeps on the stack: calls and
 * stores through pointers of unknown origin do not change it.
 */
bool body_frame_is_private(struct body *y);

#endif
