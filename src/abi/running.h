/*
 * running: the page of running counters of a thread (Ball '94), one for all
 * objects of a process. Code of the program adds to its words; what reads them
 * is tally, and a program that asks for its own counts.
 */
#ifndef ABI_RUNNING_H
#define ABI_RUNNING_H

#include <stdint.h>

enum {
	RUNNING_EVENTS = 32, /* events, at most */
	RUNNING_LANES = 4,   /* words of each: their sum is the count */
	/* what is added before the last instruction of a block, on the way
	   out, has a lane of its own: readers tell it by that. Of the others,
	   where calls are seen only the first is used */
	RUNNING_LEAVES = 0,
	RUNNING_PLAIN,
	/* words that code about calls uses most, for AArch64 loads pairs of
	   the first 64 only (abi/calls.h); then lanes, by event */
	RUNNING_HOT = 0,
	RUNNING_FIRST = RUNNING_HOT + 4 + RUNNING_EVENTS,
	RUNNING_COUNTS = RUNNING_FIRST + RUNNING_EVENTS * RUNNING_LANES,
	/*
	 * Behind them, for each lane of the first event: what has to be added
	 * to it. A tracer that is to see it pass 0 has taken that
	 * away (launch/stopper.h).
	 */
	RUNNING_BIAS = RUNNING_COUNTS,
	/* in the page of a process's first thread; not 0: in threads that begin
	   later, nothing is to trap */
	RUNNING_QUIET = RUNNING_BIAS + RUNNING_LANES,
	/* of each event, what handlers of signals had of it: not in the lanes
	   any more (runtime/calls.c) */
	RUNNING_HANDLED,
	/* words about open calls (abi/calls.h): a word that is no entry's, and
	   those of its stack */
	RUNNING_UNCOUNTED = RUNNING_HANDLED + RUNNING_EVENTS,
	RUNNING_CALLS,
	/*
	 * For calls of the client library (abi/client.h), addresses in the
	 * process: of this page, where it can always be written to; of the
	 * thread's struct chunk_phases, or 0; of the counts that were there
	 * when the thread began, or 0: none were; and of the page that the
	 * thread added to before this one, or 0.
	 */
	RUNNING_SELF = RUNNING_CALLS + 70,
	RUNNING_PHASES,
	RUNNING_BEGAN,
	RUNNING_BEFORE,
	RUNNING_WORDS,
};

/* a lane of the first event with this in it never passes 0 */
#define RUNNING_FAR (-(INT64_C(1) << 62))

/* the word of an event, in a lane */
static inline unsigned running_event(unsigned event, unsigned lane)
{
	return RUNNING_FIRST + event * RUNNING_LANES + lane;
}

/* the count of an event, by the words of its page */
static inline uint64_t running_sum(const uint64_t *word, unsigned event)
{
	uint64_t sum = 0;

	for (unsigned l = 0; l < RUNNING_LANES; l++) {
		sum += __atomic_load_n(&word[running_event(event, l)],
				       __ATOMIC_RELAXED);
		if (!event)
			sum += word[RUNNING_BIAS + l];
	}
	return sum + word[RUNNING_HANDLED + event];
}

/* lanes of the first event get a value, and mean the same */
static inline void running_set_lanes(uint64_t *word, uint64_t value)
{
	for (unsigned l = 0; l < RUNNING_LANES; l++) {
		uint64_t *lane = &word[running_event(0, l)];

		word[RUNNING_BIAS + l] += *lane - value;
		*lane = value;
	}
}

#endif
