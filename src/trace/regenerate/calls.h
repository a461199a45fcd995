/*
 * calls: the calls that are open in a thread, as its events (replay.h) come:
 * which begin, which return, and with how many instructions.
 *
 *	level 2		| strlen |
 *	level 1		   | parse          | <- a jump to another procedure
 *	level 0		main ...                 ends one and begins another
 *
 * Code that is not traced may be among them: such levels have no plan.
 */
#ifndef TRACE_REGENERATE_CALLS_H
#define TRACE_REGENERATE_CALLS_H

#include "trace/regenerate/replay.h"

struct open_call {
	struct walk_step step; /* its first block; plan NULL: not traced */
	uint64_t begin; /* number of its first instruction */
	size_t depth;	/* traced ones below it */
	uint64_t note;	/* the caller's, 0 at first */
};

struct open_calls {
	VEC(struct open_call) level;
	void (*begins)(void *arg, struct open_call *c);
	/* before instruction `end`; else the thread has ended, or is lost */
	void (*ends)(void *arg, struct open_call *c, uint64_t end,
		     bool returned);
	void *arg;
};

/* an event of the thread that they are of */
void open_calls_take(struct open_calls *c, const struct replay_event *x);
/* all that are left end, without a return */
void open_calls_close(struct open_calls *c, uint64_t end);

#endif
