/*
 * timeline: the calls of a thread as rectangles, from their first instruction
 * to their last one, on those that called them. Calls that are too short to be
 * seen are one, if together they are, too, or all are of one procedure.
 */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "trace/regenerate/calls.h"

enum { TIMELINE_DEPTH = 400 }; /* deeper calls are not drawn */

struct timeline_call {
	uint64_t start, end; /* instructions */
	struct walk_step step; /* of the longest of them */
	uint64_t longest;
	uint64_t calls; /* that are one here */
	size_t depth;
};

struct timeline {
	struct replay_sink is; /* to be given the events of one thread */
	uint64_t start, end;   /* instructions that there were */
	uint64_t least;	       /* shorter calls are not told apart */
	size_t depth;	       /* rows */
	uint64_t left_out;     /* calls that are too deep */
	VEC(struct timeline_call) call;
	struct open_calls open;
	/* by depth, what may be made one with the next call; calls 0: none */
	struct timeline_call short_one[TIMELINE_DEPTH];
};

/* instructions from start to end, in so many parts that can be told apart */
void timeline_begin(struct timeline *t, uint64_t start, uint64_t end,
		    uint64_t parts);
/* when all events were given */
void timeline_end(struct timeline *t);
void timeline_free(struct timeline *t);

#endif
