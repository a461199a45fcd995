/*
 * parallel: work that is split into equal shares, a thread each.
 *
 * Each share writes what it finds to a place of its own; the caller puts the
 * results together in order, so that they are the same with any number of
 * threads.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { PARALLEL_MAX = 32 }; /* shares of any work */

/*
 * So many threads at most; 0: as many as there are processors for this process,
 * which is what holds if nothing is said.
 */
void parallel_limit(unsigned threads);
/* how many shares n items make; fewer than `least` are not worth a second
   thread, nor half as many another one */
unsigned parallel_count(size_t n, size_t least);

/* the first of n items that is share t's; where t is `shares`, n */
static inline size_t parallel_first(size_t n, unsigned shares, unsigned t)
{
	return n * t / shares;
}

/*
 * Runs work() on each of n shares, at most PARALLEL_MAX, an array of `size`
 * bytes each, and returns when all are done. The caller does the first one
 * itself, and those for which no thread can be had.
 */
void parallel_run(void *(*work)(void *), void *share, size_t size, unsigned n);

/*
 * Calls work(arg, from, end) for shares of 0 .. n-1 that are as equal as can
 * be, a thread each, and returns when all are done; fewer than `least` are not
 * worth a thread. For work that needs no place of its own: each item writes
 * to what no other one looks at.
 */
void parallel_for(void (*work)(void *arg, size_t from, size_t end), void *arg,
		  size_t n, size_t least);

/*
 * task: work that a thread does while the caller goes on with something
 * else. What it works on is its own until task_end() returns.
 */

struct task {
	pthread_t thread;
	bool running; /* not yet waited for */
};

/*
 * Sends a thread to do work(arg). If none can be had, or `worth` says that it
 * would not be worth one, it is done when this returns.
 */
void task_begin(struct task *e, void *(*work)(void *), void *arg, bool worth);
/* returns when it is done; may be called again, and for an empty task */
void task_end(struct task *e);

#endif
