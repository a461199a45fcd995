/* stopper_int: what stopper.c and stopper_steps.c share. */
#ifndef LAUNCH_STOPPER_INT_H
#define LAUNCH_STOPPER_INT_H

#include "events/event_places.h"
#include "launch/inspect.h"
#include "launch/stopper.h"

struct stopper_run {
	struct profile p;
	struct event_places *places;
	struct inspection *x;
	pid_t first; /* the first process: others do not stop */
	bool done;
	unsigned tries;
};

/* stopper_steps.c: */

/* the profile as it is now; -1 and s->e */
int stopper_refresh(struct stopper *s, pid_t pid);
void stopper_close_run(struct stopper_run *r);
/* the thread goes on, one instruction at a time, until the
   event has happened as often as asked for */
enum stopper_says stopper_step(struct stopper *s,
			       const struct stopper_tracer *t);

#endif
