/*
 * code: what instructions of a trace are: from the file of their image, if it
 * is still there and still the same; else from the edges of their block, which
 * tell less.
 */
#ifndef EXPORT_TRACE_CODE_H
#define EXPORT_TRACE_CODE_H

#include "base/dict.h"
#include "elf/image.h"
#include "isa/isa.h"
#include "trace/regenerate/replay.h"

struct code_image {
	bool opened, here;
	struct image file;
	const struct isa *isa;
	struct dict known; /* by address: number in `insn` */
	VEC(struct insn) insn;
};

struct code {
	const struct walks *walks;
	struct code_image *image; /* by number */
};

void code_open(struct code *c, const struct walks *w);
void code_close(struct code *c);
/*
 * The instruction of a step's block with that number and address in the
 * original. Without a file it has kind, length and address alone; INSN_SEQ if
 * it is none of those that end blocks. Valid until the next call.
 */
const struct insn *code_insn(struct code *c, const struct walk_step *s,
			     uint32_t insn, uint64_t address);
/* the stack pointer's number; ISA_NO_REG: there is no file */
unsigned code_sp(const struct code *c, const struct walk_step *s);

#endif
