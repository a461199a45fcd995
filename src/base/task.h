/*
 * task: work that a thread does while the caller goes on with something
 * else. What it works on is its own until task_end() returns.
 */
#ifndef BASE_TASK_H
#define BASE_TASK_H

#include <pthread.h>
#include <stdbool.h>

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
