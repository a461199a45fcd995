/*
 * body: what is kept of a procedure while its jumps are looked at.
 *
 * Jumps are judged in rounds, and with each round blocks and edges change
 * (view). Instructions and the unwind table's rows do not: they are read once
 * and kept here.
 */
#ifndef CFG_BODY_H
#define CFG_BODY_H

#include "cfg/build.h"
#include "cfg/frame.h"
#include "isa/uop.h"

/* an instruction, lifted */
struct lifted_insn {
	uint32_t uop; /* first one, in body.uop */
	uint8_t nuop, len, kind;
	bool stores;   /* changes memory */
	regset opaque; /* read for a purpose that is not told */
	uint64_t sets; /* operands that become something else, a bit each */
	/* of the block from here to offset block_end, if that is not 0: what
	   lift.c found */
	uint32_t block_end;
	uint64_t block_changes;
};

struct body {
	const struct build *b;
	const uint32_t *piece; /* by offset */
	uint32_t npiece;
	struct frames frames;
	enum { ESCAPES_NEW, ESCAPES, ESCAPES_NOT } escapes; /* escape.c */
	uint32_t *at; /* by byte: index in insn, counted from 1; 0: not read */
	uint32_t *first; /* by piece: where its bytes are in `at` */
	VEC(struct lifted_insn) insn;
	VEC(struct uop) uop;
};

void body_init(struct body *y, const struct build *b, const uint32_t *piece,
	       uint32_t npiece);
void body_free(struct body *y);

/*
 * The lifted instruction at off, of which `avail` bytes may be read; there
 * until the next one is asked for.
 */
const struct lifted_insn *body_insn(struct body *y, uint32_t off,
				    size_t avail);

/* notes in it what the block from off to end changes */
void body_note_block(struct body *y, uint32_t off, uint32_t end,
		     uint64_t changes);

/*
 * Only the procedure itself can reach what it keeps on the stack: calls and
 * stores through pointers of unknown origin do not change it.
 */
bool body_frame_is_private(struct body *y);

#endif
