/*
 * run: a program as a child of ours; neither it nor our parent sees a
 * difference.
 *
 * It gets the signal mask, the dispositions and the timers that we were
 * started with, and none of our descriptors. It stays in our process group:
 * what the terminal sends reaches it directly, and is ignored here. What is
 * sent to us alone is passed on. If it is stopped from the terminal we stop,
 * too, so that the shell sees its job stopped.
 */
#ifndef LAUNCH_RUN_H
#define LAUNCH_RUN_H

#include "base/err.h"
#include "launch/watch.h"

/*
 * Runs the file and waits for its end. The status as a shell has it, 128+N
 * after signal N; or -1 if it could not be executed: *why is errno.
 */
int run_program(const char *file, char *const *argv, char *const *envp,
		int *why);

/*
 * run_program(), but meet() sees the process before it executes the file. If it
 * returns -1: *why is errno, *refused is true, and nothing has run.
 */
typedef int run_meet(void *arg, pid_t pid);
int run_met(const char *file, char *const *argv, char *const *envp,
	    run_meet *meet, void *arg, bool *refused, int *why);

/*
 * run_program(), watched (watch.h). If that is not allowed: *why is what errno
 * said of it, *refused is true, and nothing has run.
 */
int run_watched(const char *file, char *const *argv, char *const *envp,
		struct watch *w, bool *refused, int *why);

#endif
