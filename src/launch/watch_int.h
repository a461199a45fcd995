/* watch_int: what watch.c and watch_note.c share. */
#ifndef LAUNCH_WATCH_INT_H
#define LAUNCH_WATCH_INT_H

#include <stdint.h>

#include "launch/watch.h"

struct watched_thread {
	pid_t tid, pid;
	bool known; /* its parent's ptrace event was seen: it may go on */
	bool waits; /* stopped until then */
	bool noted; /* its end was seen */
};

struct watched_process {
	pid_t pid;
	pid_t lender;	/* whose memory it is in (vfork), or 0 */
	uint64_t chunk; /* where it is in the profile; 0: not known */
	bool flawed;	/* some thread's end was not seen */
	/* its chunk, with what was noted here alone; NULL: nothing was */
	struct chunk_process *noted;
};

/* the process that a thread belongs to; itself if that cannot be read */
pid_t watch_process_of(pid_t tid);
/* the parent of a process, 0: it cannot be read */
pid_t watch_parent_of(pid_t pid);
/*
 * Notes where a thread of the process, stopped at its exit, is. False: it
 * cannot be looked at.
 */
bool watch_note(struct watch *w, struct watched_process *p, pid_t tid);
/* no thread of the process is left: its chunk says how it ended */
void watch_conclude(struct watch *w, struct watched_process *p);
/* it is watched no more: what was noted is written */
void watch_leave(struct watch *w, struct watched_process *p);

#endif
