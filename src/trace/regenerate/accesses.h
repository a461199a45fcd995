/*
 * accesses: where a thread accesses memory, regenerated: the slices of blocks
 * (trace/slice/slice.h) are executed, with values of registers that the thread
 * has written where they ask for them.
 *
 * What is in a register is known or not: from there on addresses that are
 * computed from it are not either.
 */
#ifndef TRACE_REGENERATE_ACCESSES_H
#define TRACE_REGENERATE_ACCESSES_H

#include "trace/regenerate/walk.h"

/* what a thread knows, where it runs */
struct accesses_at {
	uint64_t value[EXEC_ZERO + 1]; /* of registers, and temporaries */
	uint64_t valid;		   /* bits of those that are known */
	/* values that were written for this place before a signal arrived here,
	   and come before those of the stream */
	buffer early;
	size_t nearly; /* bytes that were taken */
	size_t depth;  /* calls that were open then */
	bool gap; /* what was told last here is one */
};

/* that a value was taken: the number of its first byte in the thread, how many
   there are, and what asked for it, which is the same each time */
struct value_taken {
	uint64_t at;
	const struct exec_op *by;
	uint8_t size;
};
struct value_log {
	VEC(struct value_taken) value;
};

struct accesses {
	struct stream *stream;
	struct value_log *log; /* or NULL */
	struct accesses_at at;
	VEC(struct accesses_at) interrupted; /* the innermost is last */
	unsigned sp, pushed; /* the stack pointer; bytes that calls push */
	VEC(uint64_t) frame; /* by depth: the stack pointer in the callee; 0:
				not known */
	bool lost; /* which value is next is not known */
	uint64_t taken; /* values, so far */
	VEC(struct replay_access) found; /* of the step */
};

/* images: of the trace, which are all for one machine */
void accesses_begin(struct accesses *x, struct stream *s,
		    const struct replay_images *images);
void accesses_end(struct accesses *x);
/* x->found are those of the step; base: what is added to addresses of its
   image. To be called with every step of the walk */
void accesses_find(struct accesses *x, const struct walk_step *s,
		   uint64_t base);

#endif
