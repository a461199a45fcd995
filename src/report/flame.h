/*
 * flame: a flame graph of a run in which calls were measured: a frame for a
 * procedure on each way that leads to it (call_graph.h), as wide as what it
 * cost there, on the frame of its caller. Frames are dearest first, from the
 * left; what a caller has no frames on is its own cost.
 */
#ifndef REPORT_FLAME_H
#define REPORT_FLAME_H

#include "report/call_graph.h"

struct frame {
	uint32_t vertex; /* in call_graph.vertex */
	uint32_t depth;	 /* 0: it is a root */
	double start, width; /* events from the left */
	double own;	 /* of these, what no frame on it has */
	bool measured;	 /* else it is shared out by the cost of callers */
};

struct flame {
	struct call_graph graph;
	double total;	 /* events of all frames */
	uint64_t counted; /* of the run, to be filled in */
	double most_own; /* of a frame */
	VEC(struct frame) frame; /* callers before callees */
	uint32_t depth;	   /* how many are on one another */
	uint64_t left_out; /* frames that are too narrow, without those on
			      them */
};

/* of one event; frames of less than the share of all are left out */
void flame_make(struct flame *f, struct run_calls *r, unsigned event,
		double least);
void flame_free(struct flame *f);

#endif
