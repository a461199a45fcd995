/*
 * stopper: stops a program when an event has happened so many times in one of
 * its threads, exactly before the next instruction (`--stop-at`).
 *
 * Code that adds to the running counter of the event traps as soon as that is
 * not negative (isa/move.h). The stopper, which traces the program, has made
 * it negative by as much as may happen unseen; an event has several counters,
 * and each gets its share of what is left. When too little is left to share,
 * the thread goes on step by step.
 */
#ifndef LAUNCH_STOPPER_H
#define LAUNCH_STOPPER_H

#include <sys/types.h>

#include "base/err.h"
#include "events/event_list.h"

struct watch;

struct stopper {
	/* given */
	uint64_t count; /* of the first event of the list */
	unsigned thread; /* of the first process, from 1 */
	const struct event_list *list;
	const char *profile; /* its file */
	bool checks; /* a test mode: all is done in steps, and checked */
	/* called when it is about to stop */
	void (*tell)(const struct stopper *s);
	/* what became of it */
	bool stopped;
	pid_t pid, tid;
	char image[256]; /* where it stopped: the next instruction's file, */
	uint64_t address; /* its address there, */
	char procedure[256]; /* and in which procedure, or "": it has no name */
	uint64_t entry; /* of that; 0: in none that is known */
	struct err e; /* has a code: it could not be done */
	/* its own */
	struct stopper_run *run;
};

/* who traces the program: what happens to its threads while one is stepped */
struct stopper_tracer {
	struct watch *w;
	/* something happened to another thread, or this one has ended */
	int (*event)(struct watch *w, pid_t tid, int status);
	/* to the one that is stepped; false: it ends, or goes on by itself */
	bool (*step_event)(struct watch *w, pid_t tid, int status);
};

/* a thread that is traced has trapped */
enum stopper_says {
	STOPPER_NOT_OURS, /* the trap is the program's */
	STOPPER_GO_ON,
	STOPPER_STOP, /* the whole process is to stop */
};
enum stopper_says stopper_trap(struct stopper *s,
			       const struct stopper_tracer *t, pid_t pid,
			       pid_t tid);
/* all of the process is stopped, and nobody will trace it any more */
void stopper_leave(struct stopper *s);
void stopper_close(struct stopper *s);

#endif
