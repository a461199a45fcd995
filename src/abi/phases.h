/*
 * phases: what a thread has counted in phases that its program has named, and
 * what the program has left out while counting was stopped (client/tally.h).
 * A chunk of a live profile for each block of counters that needs one.
 *
 * There are two of all that changes, and one word says which of them are of
 * use: a thread that goes on to another phase writes the others, then the word.
 * So what is read is right at any moment, and if the process is killed.
 *
 *	state     which | stopped | phase | changes
 *	row 0     left out:    two of each event
 *	row 1..   phase 1..:   two of each event
 *	last row  the counts when the present phase, or stop, began: two
 */
#ifndef ABI_PHASES_H
#define ABI_PHASES_H

#include "abi/profile_format.h"

enum {
	PHASES = 32,	/* rows: phases of a thread, and what it left out */
	PHASE_NAME = 64, /* bytes of a name, with the zero behind it */
	PHASE_LEFT_OUT = 0,
	PHASE_BEGAN = PHASES, /* the last row */
	PHASE_NONE = PHASES,  /* a thread that is in no phase */
	/* bits of the state: each row's is that of its number */
	PHASE_NUMBER = 40,
};

#define PHASE_STOPPED (UINT64_C(1) << 33)
/* how often the state has changed, in its upper bits: no state is soon again */
#define PHASE_CHANGE (UINT64_C(1) << 48)

struct chunk_phases {
	struct profile_chunk chunk;
	uint32_t block; /* of counters: 0, the process's first thread's */
	uint32_t nevent;
	uint64_t state;
	uint64_t busy; /* the state is being changed */
	char name[PHASES][PHASE_NAME]; /* "": no such phase; of 0: none */
	/* uint64_t: of each row both, of each the events */
};

/* bytes of one, of which whole pages are taken */
static inline uint64_t phases_size(uint64_t nevent)
{
	return sizeof(struct chunk_phases) +
	       (PHASES + 1) * 2 * nevent * sizeof(uint64_t);
}

/* the word of a row and event, of the two that which */
static inline uint64_t phases_word(uint64_t nevent, unsigned row,
				   unsigned which, unsigned event)
{
	return (row * 2 + which) * nevent + event;
}

/* which of the two is of use */
static inline unsigned phases_which(uint64_t state, unsigned row)
{
	return state >> row & 1;
}

/* the phase that the thread is in, by name, stopped or not; 0: none */
static inline unsigned phases_named(uint64_t state)
{
	return state >> PHASE_NUMBER & (PHASES - 1);
}

/* the row that the thread adds to, or PHASE_NONE */
static inline unsigned phases_row(uint64_t state)
{
	if (state & PHASE_STOPPED)
		return PHASE_LEFT_OUT;
	return phases_named(state) ? phases_named(state) : PHASE_NONE;
}

/* the count of an event in a row, if the thread's is `sum` */
static inline uint64_t phases_count(const uint64_t *word, uint64_t nevent,
				    uint64_t state, unsigned row,
				    unsigned event, uint64_t sum)
{
	uint64_t n = word[phases_word(nevent, row, phases_which(state, row),
				      event)];

	if (phases_row(state) == row)
		n += sum - word[phases_word(nevent, PHASE_BEGAN,
					    phases_which(state, PHASE_BEGAN),
					    event)];
	return n;
}

#endif
