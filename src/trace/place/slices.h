/*
 * slices: which values of registers a procedure writes to a trace of addresses,
 * and what a replay computes from them (trace/slice/slice.h).
 *
 * A forward data flow tells which registers a replay knows at each place: those
 * whose value was written, and what is computed from registers that it knows.
 * An access by one that it does not know has it written right before; a block
 * that control mostly comes to with registers known has them written on the
 * other ways there. So a pointer that a loop advances is written once, where
 * the loop begins.
 *
 * Where control comes from outside, or back from a call, a replay knows the
 * stack pointer alone. That it knows everywhere there.
 */
#ifndef TRACE_PLACE_SLICES_H
#define TRACE_PLACE_SLICES_H

#include "base/buffer.h"
#include "count/place/placing.h"

/* values that are written together */
struct slice_values {
	uint32_t where; /* before an instruction of that vertex, or on that
			   edge */
	uint64_t at;	/* the instruction */
	uint8_t n, reg[VALUES_MOST], size[VALUES_MOST];
};

struct slices {
	VEC(struct slice_values) insn, edge;
	buffer bytes; /* for the map */
};

/* of the procedure; `like`: code that writes values */
void slices_find(struct slices *s, const struct placed_proc *q,
		 const struct insertion *like);
void slices_free(struct slices *s);

#endif
