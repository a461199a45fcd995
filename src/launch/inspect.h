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

#include "abi/phases.h"
#include "abi/profile_format.h"
#include "abi/running.h"
#include "base/err.h"
#include "base/mem.h"

/* phases of a block (abi/phases.h) at the moment its thread was read */
struct inspected_phases {
	uint32_t block;
	unsigned row; /* that its thread adds to, or PHASE_NONE */
	char name[PHASES][PHASE_NAME]; /* "": no such phase, but the first */
	uint64_t value[PHASES][RUNNING_EVENTS];
};

/* a thread at one moment */
struct inspected {
	uint32_t tid;
	/* since it began, with what it has left out */
	uint64_t value[RUNNING_EVENTS];
	struct inspected_phases *phases; /* or NULL; of a list */
	const struct thread_record *record; /* its own; NULL: the first's */
	/* where it was in the middle of blocks: there, and where handlers
	   that it runs have interrupted it; as a process notes it */
	struct process_end end[PROCESS_ENDS];
	uint32_t nend;
	bool lost; /* where it was cannot be told */
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

/* the running counters of a thread; false: it has none yet */
struct inspected_page {
	uint64_t *word;	       /* running.h */
	uint32_t block;	       /* whose it is */
	const struct thread_record *record; /* NULL: the first thread's */
	const uint64_t *began; /* what they were when it began; NULL: 0 */
	unsigned thread;       /* which it is of its process, from 1 */
};
bool inspect_page(const struct inspection *x, pid_t tid,
		  struct inspected_page *p);
/* no code of the process traps any more, nor of threads that it makes; all of
   it is stopped */
void inspect_quiet(const struct inspection *x);
/* a thread that is stopped by a tracer of ours, between two instructions */
int inspect_stopped(struct inspection *x, pid_t tid, struct inspected *t,
		    struct err *e);

struct view;
struct chunk_process;
/* what its process knows (view.h), to be closed; false: it cannot be read */
bool inspect_view(const struct inspection *x, pid_t tid, struct view *v,
		  struct chunk_process *places);

struct inspected_list {
	VEC(struct inspected) v;
	/* of all blocks that have such, those of threads that have ended too */
	VEC(struct inspected_phases *) phases;
	uint64_t ended[RUNNING_EVENTS]; /* of threads that have ended before */
};
/* appends all threads that there are, each at a moment of its own; -1 and *e
   if the process is gone */
int inspect_threads(struct inspection *x, struct inspected_list *l,
		    struct err *e);
void inspected_list_free(struct inspected_list *l);

#endif
