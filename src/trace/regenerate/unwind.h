/*
 * unwind: the calls that are open where an epoch begins, from the registers and
 * the end of the stack that the thread has written then (abi/trace.h), by the
 * unwind tables in the trace (trace/file/unwind_table.h).
 *
 * A frame is found as far as these reach; what called the outermost one that
 * was found is not known.
 */
#ifndef TRACE_REGENERATE_UNWIND_H
#define TRACE_REGENERATE_UNWIND_H

#include "trace/regenerate/mappings.h"
#include "trace/regenerate/stacks.h"
#include "trace/regenerate/stream.h"

struct unwound {
	uint64_t caller; /* the stack pointer of what called the procedure that
			    the thread is in; 0: not known */
	VEC(struct walk_frame) frame; /* the innermost is first */
};

/* u is replaced, and starts zeroed */
void unwind_state(const struct mappings *m, const struct stream_state *s,
		  struct unwound *u);
void unwound_free(struct unwound *u);

#endif
