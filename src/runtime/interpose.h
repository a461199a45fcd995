/*
 * interpose: threads, children and ends of a program whose C library is as it
 * was, and has no hooks: one that is run by hand, or has musl's. The library's
 * own functions are bound to ours (rebind.h), which do what hooks would have
 * and call them.
 *
 *	pthread_create, thrd_create   the new thread gets a block before its
 *	                              routine runs (threads.c)
 *	fork and what calls it        the child gets counters before anything
 *	                              of the program runs in it (forks.c)
 *	exit, _exit, execve ..        how the process ends is noted (ends.c)
 *	sigaction, signal ..          no handler runs within an increment
 *	                              (signals.c)
 *	syscall, prctl, chroot ..     what hooks tell of (counting.c): above
 *	                              all that it locks itself in
 *
 * What calls them (a library, a plugin that is loaded later) does not matter.
 * Threads that are made in other ways share counters with others.
 */
#ifndef RUNTIME_hooksH
#define RUNTIME_hooksH

#include "runtime/counting.h"

/*
 * Requires: h->counting; a loader has loaded the program, which is the first
 * image, and it has not begun yet. `stack`: as the kernel left it. False: not
 * all is seen.
 */
_Bool interpose_begin(const struct launch_env *h, uintptr_t *stack);

#endif
