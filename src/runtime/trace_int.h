/*
 * trace_int: what the files of traces share: a thread that something is written
 * for, and its ring.
 */
#ifndef RUNTIME_TRACE_INT_H
#define RUNTIME_TRACE_INT_H

#include "abi/trace.h"
#include "runtime/counting.h"

/* a thread, while something is written for it */
struct tracer {
	struct counting *c;
	uint64_t *page;
	uint64_t mask; /* its signals */
};

static inline uint64_t *tracer_word(const struct tracer *t, unsigned offset)
{
	return &t->page[offset / sizeof(uint64_t)];
}

static inline struct chunk_trace *tracer_ring(const struct tracer *t)
{
	return (void *)(uintptr_t)*tracer_word(t, TRACE_PAGE_RING);
}

/* --- trace_ring.c */
/* where sites lead is forgotten: that of another thread as well */
void ring_forget_targets(uint64_t *page, struct chunk_trace *k);
/* as the system tells time, and on which CPU this runs */
uint64_t ring_now(void);
uint32_t ring_cpu(void);
/* nothing is written any more */
void ring_give_up(const struct tracer *t);
/* the next part */
void ring_open_part(const struct tracer *t);
/* that is over, if there is one */
void ring_hand_over(const struct tracer *t);
/* may an epoch begin here, if it can be told where the thread is? */
_Bool ring_is_due(const struct tracer *t);
/* words of bits that go up to there need not ask: up to the part's end, or less
   where an epoch is due */
void ring_set_limit(const struct tracer *t);
/* one is to begin as soon as it can be told where the thread is */
void ring_want_epoch(const struct tracer *t);
/* one does */
void ring_begin_epoch(const struct tracer *t);
/* what the thread's variables are found by has changed: a part has to begin
   for it to be told */
void ring_tell_base(const struct tracer *t);
/* the word of bits is written if it is full */
void ring_flush(const struct tracer *t);
/* a record with n words behind the bits */
void ring_put_record(const struct tracer *t, enum ring_record kind,
		     uint64_t number, const uint64_t *payload, unsigned n);
/* what addresses mean may have changed since the thread's last record */
void ring_record_loads(const struct tracer *t);
/* a record of something that the thread does */
void ring_record(const struct tracer *t, enum ring_record kind, uint64_t number,
		 const uint64_t *payload, unsigned n);

/* --- trace_state.c */
/*
 * A new epoch begins in a routine that was called from there, with that stack
 * pointer: it is told what a replay has to know that begins here.
 */
void state_begin(const struct tracer *t, const struct arch_asked *k,
		 uintptr_t from, uintptr_t sp);

#endif
