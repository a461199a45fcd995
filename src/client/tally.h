/*
 * tally.h: a program asks for its own counts, says when to count, and names
 * its phases. Under `tally events --online` (or what implies that) functions
 * answer, exactly and at once; in any other run they return TALLY_NOT_COUNTED
 * and do nothing. doc/tally-client.3 is the manual page.
 *
 * Counts are the calling thread's own, of the events of `tally events -e`. They
 * are those of the moment in which a function is called: of all that the
 * thread has executed before the function's first instruction. What functions
 * execute themselves is counted nowhere.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	TALLY_NOT_COUNTED = -1, /* it does not run under tally, or not so */
	TALLY_NO_ROOM = -2,     /* too many phases; the profile is full */
	TALLY_BAD_NAME = -3,    /* of a phase */
	TALLY_NO_EVENT = -4,    /* that one is not counted */
	TALLY_BUSY = -5         /* a signal has interrupted such a call */
};

enum {
	TALLY_EVENTS_MAX = 32, /* that can be counted at once */
	TALLY_PHASES_MAX = 31, /* names of a thread and those before it */
	TALLY_NAME_MAX = 63    /* bytes of such a name */
};

/* how many events are counted, at least 1 */
int tally_events(void);
/* the number of an event, from 0, by its name: "insns" */
int tally_event(const char *name);
/* its name, cut to `size` bytes with the zero behind it; the name's length */
int tally_event_name(int event, char *name, size_t size);

/*
 * Fills counts[0] to counts[n - 1] with the thread's counts so far, less what
 * it left out; returns how many events there are. It can be called in handlers
 * of signals.
 */
int tally_read(uint64_t *counts, int n);

/*
 * What the thread does from now on is left out of all counts, until it starts
 * again; 0. A second one means nothing more. Under `tally trace`, where all
 * other functions return TALLY_NOT_COUNTED, it is not traced.
 */
int tally_stop(void);
int tally_start(void);

/*
 * What the thread does from now on is counted for the phase, too; NULL: for
 * none. Returns the number of the phase that it was in before, or 0: none.
 */
int tally_phase(const char *name);
/* goes on with the phase of a number that tally_phase() has returned; 0 */
int tally_phase_return(int phase);

#ifdef __cplusplus
}
#endif

#endif
