/*
 * counter_code: inserted code that adds constants to counters, and the memory
 * that it needs.
 *
 *	[room for threads' code]  [running page]  [counters]
 *
 * Counters are an image's own. The running page, if there is one, is the same
 * in all images of a process: the running program maps one page of its profile
 * there (runtime/running.c), so that code of any image adds to one sum. Its
 * words have numbers below 0, see running_word().
 */
#ifndef COUNT_PLACE_COUNTER_CODE_H
#define COUNT_PLACE_COUNTER_CODE_H

#include "isa/move.h"
#include "rewrite/plan.h"

struct counter_add {
	int32_t counter;
	int32_t constant;
	bool traps; /* as an addition's (isa/move.h) */
};

/*
 * A call of a routine about open calls of the program (abi/calls.h), behind
 * what the code adds.
 */
struct code_call {
	uint8_t routine; /* CALLS_PUSH .. */
	uint8_t above; /* what is added to the stack pointer for it */
	bool below; /* the procedure may have data below the stack pointer */
	int32_t word;  /* number of the counter that it is about */
	regset dead; /* registers that are, besides those that are known */
};

/* bits that are appended to the thread's trace (abi/trace.h) */
struct code_append {
	uint16_t bits;
	uint8_t n;
	bool below; /* as in struct code_call */
};

/* values of registers that are appended to it */
struct code_values {
	uint8_t reg[VALUES_MOST], size[VALUES_MOST], n;
	bool below; /* as in struct code_call */
};

/* a routine is told where the jump, call or return leads that follows */
struct code_site {
	uint64_t at;	/* its address */
	uint64_t link;	/* as in struct site_call (isa/move.h) */
	int32_t word;	/* number of the counter that is the site's; or -1:
			   the routine wants to know where the stack is */
};

/* control has come to an address of the program */
struct code_arrival {
	uint64_t at;
	bool call; /* by a call, or as if: nothing is below the stack pointer */
};

/* what an insertion does is told by the first bits of its number, the others
   are its number among those: additions, perhaps with a call; or one of these
   alone */
#define CODE_CALLS UINT32_C(0x80000000)
#define CODE_APPENDS UINT32_C(0x40000000)
#define CODE_SITES UINT32_C(0x20000000)
#define CODE_ARRIVES UINT32_C(0x10000000)
#define CODE_VALUES UINT32_C(0x08000000)
#define CODE_ALONE UINT32_C(0xf8000000)

/* the number of a word of the running page */
static inline int32_t running_word(const struct isa *isa, unsigned word)
{
	return (int32_t)word - (int32_t)(isa->page / sizeof(uint64_t));
}

struct counter_code {
	const struct isa *isa;
	/* by insertion: its first addition, in add; and one more, the end */
	VEC(uint32_t) first;
	VEC(struct counter_add) add;
	VEC(struct code_call) call;
	VEC(uint32_t) calls; /* by insertion: its call's number + 1, or 0 */
	/* what traces need */
	VEC(struct code_append) append;
	VEC(struct code_values) values;
	VEC(struct code_site) site_call;
	VEC(struct code_arrival) arrival;
	const struct cfg *cfg;
	VEC(uint64_t) site; /* by addition's insertion, or by addition: where
			       code is that can be changed for threads
			       (isa/move.h); none if it counts for them from
			       the beginning; then appended bits and values,
			       where room is needed for that */
	bool running; /* there is a running page */
	/*
	 * The code counts for threads from the beginning: there is no room
	 * near enough to make it do so later (isa/move.h).
	 */
	bool for_threads;
	bool too_far;  /* found out late: it has to, and is to be made anew */
	bool subtract; /* threads' words are subtracted */
	uint64_t counters; /* where they begin in the plan's memory */
};

/* all insertions are known: what memory a plan needs for ncounter counters */
void counter_code_memory(struct counter_code *c, uint32_t ncounter,
			 struct plan *p);
/* for the plan's functions of the same names */
unsigned counter_code_size(struct counter_code *c,
			   const struct insertion *i, const struct scratch *s);
bool counter_code_write(struct counter_code *c, const struct insertion *i,
			const struct scratch *s, uint64_t addr,
			const struct plan_bases *bases, uint8_t *out);
void counter_code_constants(struct counter_code *c,
			    const struct plan_bases *bases, uint8_t *out);
void counter_code_free(struct counter_code *c);

#endif
