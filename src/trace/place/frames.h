/*
 * frames: which returns of a procedure certainly lead to what called it. A
 * replay then knows where they lead, and a trace need not say so.
 *
 * That is so where the stack pointer has come back, by constants alone, to what
 * it was at the entry, and the return address is the one that was there then:
 * never overwritten by an address that is a constant too, kept or saved and
 * restored by the procedure. Of its callees it is asked that they leave the
 * stack pointer, and registers that calls leave alone, as they were: for each
 * of them the same is asked, and what does not return so says where it leads.
 */
#ifndef TRACE_PLACE_FRAMES_H
#define TRACE_PLACE_FRAMES_H

#include "cfg/cfg.h"

/* where the stack pointer is, by that at the entry: that + before, rounded down
   to a multiple of 1 << align, + off */
struct frame_sp {
	bool known;
	uint8_t align; /* 0: it is not rounded, `before' is 0 */
	int64_t before, off;
};

struct frame_at {
	struct frame_sp first; /* at the beginning of the block */
	struct frame_sp last;  /* before its last instruction */
	bool returns; /* that is a return, to the caller */
};

struct frames {
	const struct cfg *c;
	const struct procedure *p;
	struct frame_at *at; /* by block of its parts, one behind the other */
	uint32_t n;
};

void frames_find(struct frames *f, const struct cfg *c, uint32_t proc);
void frames_free(struct frames *f);

/* requires: a block of the procedure */
const struct frame_at *frames_at(const struct frames *f, uint32_t block);

#endif
