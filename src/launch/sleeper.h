/*
 * sleeper: a thread of another process that sleeps in the kernel, as /proc says
 * it, and whether it has slept all the while. Its files stay open: a thread is
 * asked for again and again, and opening takes longer than reading.
 */
#ifndef LAUNCH_SLEEPER_H
#define LAUNCH_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"

enum { SLEEPER_TEXT = 256 }; /* of what /proc says */

struct sleeper {
	pid_t tid;
	int slices, call; /* /proc/TID/schedstat and syscall, open, or -1 */
	char since[SLEEPER_TEXT]; /* what schedstat said at first */
	bool seen; /* since sleepers_sweep() */
};

/* those of a process */
struct sleepers {
	VEC(struct sleeper) v;
};

/* the thread's, until the next one is asked for */
struct sleeper *sleepers_find(struct sleepers *s, pid_t tid);
/* closes those that were not asked for since the last time */
void sleepers_sweep(struct sleepers *s);
void sleepers_close(struct sleepers *s);

/*
 * Whether it sleeps in a system call, and its stack pointer and address then.
 * False: it runs, or that is not told.
 */
bool sleeper_look(struct sleeper *s, uint64_t *sp, uint64_t *pc);
/* has it not run since it was looked at? */
bool sleeper_slept_on(struct sleeper *s);

#endif
