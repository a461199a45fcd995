/* step: what a walk tells (walk.h), one after the other. */
#ifndef TRACE_REGENERATE_STEP_H
#define TRACE_REGENERATE_STEP_H

#include "trace/regenerate/images.h"

enum walk_kind {
	WALK_BLOCK, /* instructions of one block ran */
	WALK_GAP,   /* code ran that is not traced, from `address` on; 0: not
		       known where */
	WALK_SIGNAL, /* a handler of the signal `number` (0: something else
			that is not known) is about to run, that arrived at
			`address`, as it ran */
	WALK_RESUME, /* it has returned */
	WALK_SYSCALL, /* `number` is about to be called, at `time` on `cpu` */
	WALK_LOST,  /* where the thread went is not known up to the next step */
	WALK_OPEN,  /* a call is open where the walk goes on, by instruction
		       `first' of the block: the outermost is told first */
	WALK_VFORK, /* what follows is of a process that was made in the memory
		       of this one */
	WALK_AGAIN, /* which has ended, for the thread: step.why */
	WALK_END,   /* there is no more */
};

/* how the walk came to a place */
enum walk_by {
	BY_BRANCH, /* an edge of the procedure */
	BY_CALL,
	BY_RETURN, /* of what was called */
	BY_JUMP,   /* to another procedure, or out of a gap by a return */
	BY_ENTRY,  /* code that is not traced has called */
	BY_BEGIN,  /* of the thread, or after it was lost */
};

/* what the trace says of the place where a step begins */
enum walk_tells {
	WALK_TELLS_SP = 1,     /* the stack pointer */
	WALK_TELLS_VALUES = 2, /* how many values of registers were written */
};

struct walk_step {
	uint8_t kind, by;
	uint8_t told; /* enum walk_tells bits */
	uint32_t number; /* of a signal or system call */
	uint32_t cpu;
	uint64_t sp, values;
	uint64_t time; /* ns, of the system's clock */
	struct replay_image *image;
	const struct proc_plan *plan;
	uint32_t vertex;
	uint32_t edge;	  /* of the map by which it was reached, or MAP_NONE */
	uint32_t first, n; /* instructions of the block: it may be told in
			      parts, where a handler came in between */
	uint64_t address; /* where it begins, in the original; of a gap as it
			     ran */
	uint64_t base; /* what was added to addresses of the original */
	size_t depth;	  /* calls that are open */
	const char *why;  /* it is lost, or the end */
};

#endif
