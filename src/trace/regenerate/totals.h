/*
 * totals: what threads of a trace did, in sum: all of it is replayed once.
 */
#ifndef TRACE_REGENERATE_TOTALS_H
#define TRACE_REGENERATE_TOTALS_H

#include "trace/regenerate/replay.h"

struct thread_totals {
	struct trace_thread thread;
	uint64_t insns;
	uint64_t branches; /* blocks that control left by one of several ways */
	uint64_t gaps;	   /* how often code ran that is not traced */
	uint64_t lost;	   /* how often it is not known where control went */
};

struct trace_totals {
	/* of each thread of the trace, in the same order; then of processes
	   that were made in the memory of others */
	VEC(struct thread_totals) thread;
};

void totals_find(struct trace_totals *t, struct walks *w, struct progress *p);
void totals_free(struct trace_totals *t);

#endif
