/*
 * watch: a program whose end is seen whatever it is (`--trace-kill`).
 *
 * Nothing in a process runs any more when SIGKILL arrives. But the kernel lets
 * a tracer look at every thread before it goes (PTRACE_EVENT_EXIT): registers
 * and memory are as they were. Where threads are then is noted in the profile,
 * as the process itself does if another signal ends it (runtime/exits.c).
 *
 * All threads and children of the program are traced, and what it executes.
 * Signals, stops and exits are passed on. When the program has ended, or if we
 * do, its children run on by themselves.
 */
#ifndef LAUNCH_WATCH_H
#define LAUNCH_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/mem.h"

struct watch {
	int profile; /* the file, open; -1: nothing can be noted */
	VEC(struct watched_thread) thread;
	VEC(struct watched_process) process;
	struct stopper *stopper; /* sees traps (stopper.h), or NULL */
	bool done; /* all were let go: nothing is watched any more */
	/* the status of a thread that ended while another was stepped */
	pid_t ended;
	int ended_status;
};

/*
 * May a process of ours be watched? Tried with one that does nothing; -1: errno
 * says why not.
 */
int watch_try(void);
/* the profile may be NULL: nothing is noted */
void watch_open(struct watch *w, const char *profile);
void watch_close(struct watch *w);
/* from now on the process, of one thread, is watched; -1: errno says why */
int watch_seize(struct watch *w, pid_t pid);
/*
 * What waitpid(-1, ..., __WALL) said of a thread, which goes on. The signal
 * that stopped its process, if that is all, or 0.
 */
int watch_event(struct watch *w, pid_t tid, int status);

#endif
