/*
 * call_sites: where code of a procedure tells that calls begin and end, so that
 * events are known by call site (abi/calls.h).
 *
 *	before a call, or a jump to another procedure	CALLS_PUSH, CALLS_OPEN
 *	behind a call					CALLS_CLOSE
 *	behind setjmp(), at landing pads		CALLS_LAND
 *	at its entry, if it is reached by its address	CALLS_ENTER
 *	and before it returns, where that is not known	CALLS_RETURN
 *
 * Running counters are exact in all these places (Ball '94, 4).
 */
#ifndef EVENTS_CALL_SITES_H
#define EVENTS_CALL_SITES_H

#include "count/place/call_code.h"
#include "count/place/placing.h"

struct call_sites {
	const struct call_code *code;
	const struct placed_proc *q;
	uint32_t word; /* the procedure's own */
	bool jumps;    /* by an address, somewhere */
	bool returns;  /* it does, or what it jumps to */
	bool below;    /* it may have data below the stack pointer */
	struct code_call *edge; /* by edge: what is called before it */
	bool *calls;		/* by edge: it is */
};

/* takes words for the procedure, and finds what its edges call */
void call_sites_find(struct call_sites *x, const struct call_code *code,
		     const struct placed_proc *q);
/* *like, which adds, made to call as well; what is called, or NULL */
const struct code_call *call_sites_on_edge(const struct call_sites *x,
					   uint32_t edge,
					   struct insertion *like);
/* all other code, and (edges: true) that on edges */
void call_sites_place(const struct call_sites *x, bool edges);

#endif
