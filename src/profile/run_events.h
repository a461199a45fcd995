/*
 * run_events: how often events happened in a run, in all of it and in each
 * process, and what of it is not known.
 */
#ifndef PROFILE_RUN_EVENTS_H
#define PROFILE_RUN_EVENTS_H

#include "events/derive.h"
#include "profile/counts.h"

struct thread_events {
	uint32_t tid; /* 0: not known */
	struct event_total at[EVENTS_MAX];
};

struct process_events {
	uint32_t number, pid; /* of the process, in the profile; the kernel's */
	const char *name;
	struct event_total at[EVENTS_MAX];
	struct thread_events *thread; /* as they began; NULL: not known */
	uint32_t nthread;
};

/* what was counted in a phase that the program has named, and elsewhere not */
struct phase_events {
	const char *name; /* "": left out by the program, of all other counts */
	uint32_t process; /* number in the profile; 0: of the whole run */
	uint32_t open;    /* threads that are in it, or were at their end */
	struct event_total at[EVENTS_MAX];
};

/* something ran that is not measured, or not all of it is */
struct not_measured {
	const char *image;
	const char *procedure; /* or NULL: the image as a whole */
	const char *event;     /* or NULL: any */
	const char *reason;
	uint64_t executions; /* of instructions whose events are not known; 0:
				not known either */
};

struct run_events {
	const struct event_list *list;
	unsigned shown; /* of the list: the others are not of interest */
	struct event_total at[EVENTS_MAX]; /* of all processes */
	VEC(struct process_events) process;
	VEC(struct phase_events) phase; /* of each process and name */
	VEC(struct phase_events) run_phase; /* of each name */
	VEC(struct not_measured) left;
	VEC(const char *) trouble; /* why counts may be wrong, a line each */
	bool seen[EVENTS_MAX]; /* a set: some image has an instruction of it */
	struct arena arena;
};

/*
 * Fills *r: from running counters, if the profile has such, which are those of
 * the list, else from counts of places. by_process: for each of them, too. On
 * -1 nothing needs freeing.
 */
int run_events_make(struct run_events *r, struct counts *t,
		    const struct event_list *list, bool by_process,
		    struct err *e);
/* fills r->run_phase: sums over processes */
void run_events_add_phases(struct run_events *r);
void run_events_free(struct run_events *r);

#endif
