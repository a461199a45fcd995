/*
 * expression: what a DWARF expression of an unwind table depends on. Such a
 * table still holds for moved code if its expressions know nothing of where
 * code is.
 */
#ifndef REWRITE_UNWIND_EXPRESSION_H
#define REWRITE_UNWIND_EXPRESSION_H

#include "base/buffer.h"
#include "base/bytes.h"

struct expression_uses {
	bool sp;      /* the stack pointer */
	bool address; /* the program counter, or a fixed address */
	bool branch;  /* it has jumps, which count its bytes */
};

/*
 * Looks through an expression, given the stack pointer's register and that of
 * the return address, which is the program counter of the frame described.
 * False if it is empty or has an operation that is not known.
 */
bool expression_scan(struct bytes b, uint64_t sp, uint64_t pc,
		     struct expression_uses *uses);
/*
 * Appends to out the expression for a stack pointer that is `down` bytes
 * lower. requires: expression_scan(), no branch together with sp
 */
void expression_lower(buffer *out, struct bytes b, uint64_t sp, uint64_t down);

/*
 * Whether it is the stack pointer and a number, if the program counter is `at`:
 * *offset is that number.
 */
bool expression_offset(struct bytes b, uint64_t sp, uint64_t pc, uint64_t at,
		       int64_t *offset);

#endif
