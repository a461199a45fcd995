/*
 * stop_thread: stops a thread of another process for a moment, by ptrace(2),
 * and lets it go on as if nothing had been.
 */
#ifndef LAUNCH_STOP_THREAD_H
#define LAUNCH_STOP_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

/* false, and errno: it may not be, or is gone. *signo: a signal that arrived
   first, which it gets when it is let go */
bool stop_thread(pid_t tid, int *signo);
void let_thread_go(pid_t tid, int signo);

#endif
