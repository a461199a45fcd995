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

/* insertions numbered from here on do nothing but that */
#define CODE_CALLS UINT32_C(0x80000000)

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
	VEC(uint64_t) site; /* by insertion, or by addition: where code is that
			       can be changed for threads (isa/move.h); none
			       if it counts for them from the beginning */
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
unsigned counter_code_size(const struct counter_code *c,
			   const struct insertion *i, const struct scratch *s);
bool counter_code_write(struct counter_code *c, const struct insertion *i,
			const struct scratch *s, uint64_t addr,
			const struct plan_bases *bases, uint8_t *out);
void counter_code_constants(struct counter_code *c,
			    const struct plan_bases *bases, uint8_t *out);
void counter_code_free(struct counter_code *c);

#endif
