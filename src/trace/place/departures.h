/*
 * departures: what is written where control may leave a procedure, beside the
 * code of the edge.
 *
 * A replay follows direct calls, and returns of procedures that provably return
 * to their caller, by itself. What an indirect jump or call leads to is
 * written, and of one that may lead to another frame where the stack pointer
 * is. Where control leaves for code that is not moved there is a gap: it ends
 * with a record if that code enters what is moved by an address, else with the
 * next bits. So that this can be told apart, what leads to a gap writes at
 * least one bit.
 */
#ifndef TRACE_PLACE_DEPARTURES_H
#define TRACE_PLACE_DEPARTURES_H

#include "count/place/placing.h"
#include "trace/place/frames.h"

struct departure {
	uint8_t writes; /* enum map_write bits */
	uint64_t at;	/* of the instruction, if a target is written */
	uint64_t link;	/* as in struct site_call (isa/move.h) */
};

/* edge e of the procedure, which may lead out of it */
struct departure departure_of(const struct placed_proc *q,
			      const struct frames *f, uint32_t e);

#endif
