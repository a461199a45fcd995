/*
 * runs: the blocks that follow from a place by the bits that are next, found
 * out once and kept.
 *
 * Which way control goes at a place, and at those that it comes to then,
 * depends on the next bits alone, until it leaves the procedure. So a walk that
 * comes to a place often finds there, by the next RUN_BITS bits, all blocks
 * that these lead to.
 */
#ifndef TRACE_REGENERATE_RUNS_H
#define TRACE_REGENERATE_RUNS_H

#include "trace/regenerate/plan.h"

enum {
	RUN_BITS = 8,
	RUN_BLOCKS = 32, /* at most */
};

struct run_block {
	uint32_t vertex, edge; /* by which it is reached */
	uint32_t n;	       /* instructions */
	uint64_t address;
};

struct run {
	uint64_t times; /* it was gone along, where a walk counts */
	const uint32_t *way; /* what is left of the last choice's, behind it */
	uint32_t nway;
	uint16_t nblock; /* 0: bits do not say so much */
	uint8_t nbit;	 /* that it takes */
	uint8_t nhub;	 /* edges that lead to hubs */
	uint32_t *hub;
	struct run_block block[];
};

/* the run from a vertex by these bits; NULL: control has not come there often,
   or there is none */
struct run *runs_find(struct proc_plan *p, uint32_t vertex, uint32_t bits);
/* how often runs were gone along is added to what plan->ran has */
void runs_add_up(struct proc_plan *p);

static inline struct run *runs_next(struct proc_plan *p, uint32_t vertex,
				    uint32_t bits)
{
	struct run *r = p->runs[vertex].at ? p->runs[vertex].at[bits] : NULL;

	if (!r)
		r = runs_find(p, vertex, bits);
	return r && r->nblock ? r : NULL;
}

#endif
