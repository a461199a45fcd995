/*
 * run_calls: what calls cost in a run, with all that the callee did, by call
 * site and callee (`tally events --per-call-site`).
 */
#ifndef PROFILE_RUN_CALLS_H
#define PROFILE_RUN_CALLS_H

#include "events/event_list.h"
#include "profile/counts.h"

enum call_kind {
	CALL_DIRECT,
	CALL_INDIRECT,
	CALL_JUMP, /* to another procedure, by which it returns */
	CALL_INDIRECT_JUMP,
	CALL_OUTSIDE, /* by code that is not counted */
	CALL_SIGNAL,
};
const char *call_kind_name(unsigned kind);

#define CALL_NONE UINT32_MAX

struct run_call {
	uint32_t image, proc; /* in counts.image, and in its map; CALL_NONE */
	uint64_t addr;	      /* of the call or jump */
	uint8_t kind;	      /* enum call_kind */
	uint8_t signal;	      /* its number */
	uint32_t to_image, to_proc; /* CALL_NONE: in nothing that is counted */
	uint64_t to;	      /* its address; 0: not known */
	const char *to_name;  /* of one that is not counted, or NULL */
	uint64_t calls;
	bool known; /* what they cost is */
	bool outermost_known; /* and what the outermost cost */
	/* of each event: all activations, then the outermost of the callee */
	const uint64_t *value;
};

struct run_calls {
	const struct counts *t;
	struct event_list list;
	VEC(struct run_call) call; /* by image, address, callee */
	struct arena arena;
};

/* requires: t->profile.calls. On -1 nothing needs freeing */
int run_calls_make(struct run_calls *r, const struct counts *t, struct err *e);
void run_calls_free(struct run_calls *r);

/* as it is shown; in the arena */
const char *run_call_site(struct run_calls *r, const struct run_call *x);
const char *run_call_callee(struct run_calls *r, const struct run_call *x);

/* a procedure: all calls of it, and by it */
struct run_procedure {
	uint32_t image, proc;
	uint64_t calls;
	bool known, outermost_known, own_known;
	bool makes_threads; /* what it called cost more than it: threads did */
	/* of each event: all activations, the outermost, its own instructions
	   without those of what it called */
	uint64_t *value;
};
struct run_procedures {
	VEC(struct run_procedure) v; /* by image and procedure */
};
void run_procedures_make(struct run_procedures *out, struct run_calls *r);
/* NULL: it was not called, or is not counted */
struct run_procedure *run_procedure_find(const struct run_procedures *all,
					 uint32_t image, uint32_t proc);

#endif
