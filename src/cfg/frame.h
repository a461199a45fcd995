/*
 * frame: where the stack pointer stands, by the unwind table.
 *
 * The unwind table gives, for every instruction that an FDE covers, the
 * canonical frame address (CFA) as a register plus an offset. At a
 * procedure's entry the CFA is the stack pointer plus isa->entry_cfa, so a
 * row that names the stack or frame pointer tells that register's value in
 * terms of the stack pointer at entry, without looking at any instruction.
 */
#ifndef CFG_FRAME_H
#define CFG_FRAME_H

#include "cfg/build.h"

struct frames {
	const struct isa *isa;
	cfa_rows row; /* by start; where no FDE covers: not known */
};

/* reads the rows of a procedure's pieces, by offset */
void frames_read(struct frames *f, const struct build *b,
		 const uint32_t *piece, uint32_t n);
void frames_free(struct frames *f);

/*
 * What must be added to the stack pointer at entry to get register r (the
 * stack or frame pointer) at addr; false if the table does not tell.
 */
bool frames_offset(const struct frames *f, uint64_t addr, unsigned r,
		   int64_t *offset);

/* the table says that at addr the frame pointer is still the caller's */
bool frames_fp_untouched(const struct frames *f, uint64_t addr);

#endif
