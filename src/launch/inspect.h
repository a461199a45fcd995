/*
 * inspect: running counters of a process that runs, thread by thread, and where
 * each thread is at the same moment.
 *
 * A thread that runs is stopped until its registers and counters are read. One
 * that sleeps in the kernel is not touched, since a stop would end some system
 * calls: /proc says where it is, and that it has not run meanwhile.
 */
#ifndef LAUNCH_INSPECT_H
#define LAUNCH_INSPECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "abi/profile_format.h"
#include "base/err.h"
#include "base/mem.h"
#include "launch/running_pages.h"
#include "launch/running_phases.h"

/* a thread at one moment */
struct inspected {
	uint32_t tid;
	/* since it began, with what it has left out */
	uint64_t value[RUNNING_EVENTS];
	struct inspected_phases *phases; /* or NULL; of a list */
	/* where it was in the middle of blocks: there, and where handlers
	   that it runs have interrupted it; as a process notes it */
	struct process_end end[PROCESS_ENDS];
	uint32_t nend;
	bool lost; /* where it was cannot be told */
	bool gone; /* it has ended meanwhile */
};

struct inspection;

/*
 * Opens a process that counts in the profile; write: its counters are to be
 * changed. NULL and *e: it does not, or may not be looked at.
 */
struct inspection *inspect_open(const char *profile, pid_t pid, bool write,
				struct err *e);
void inspect_close(struct inspection *x);
/* whether the process has made more chunks since: then it is to be reopened */
bool inspect_is_old(const struct inspection *x);

/* the running counters of a thread */
enum running_found inspect_page(struct inspection *x, pid_t tid,
				struct running_page *p);
/* changes those of a thread that is stopped; false: they stay */
bool inspect_write(const struct inspection *x, const struct running_page *p);
/* no code of the process traps any more, nor of threads that it makes; all of
   it is stopped */
void inspect_quiet(const struct inspection *x);
/* a thread that is stopped by a tracer of ours, between two instructions */
int inspect_stopped(struct inspection *x, pid_t tid, struct inspected *t,
		    struct err *e);

struct view;
/* what its process knows (view.h), to be closed; false: it cannot be read */
bool inspect_view(struct inspection *x, pid_t tid, struct view *v);

struct inspected_list {
	VEC(struct inspected) v;
	/* of all blocks that have such, those of threads that are gone too */
	VEC(struct inspected_phases *) phases;
	uint64_t ended[RUNNING_EVENTS]; /* of threads that are gone */
};
/* appends all threads that there are, each at a moment of its own; -1 and *e
   if the process is gone, or cannot be read */
int inspect_threads(struct inspection *x, struct inspected_list *l,
		    struct err *e);
void inspected_list_free(struct inspected_list *l);

#endif
