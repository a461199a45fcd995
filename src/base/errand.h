/*
 * errand: work that a thread does while the caller goes on with something
 * else. What it works on is its own until errand_end() returns.
 */
#ifndef BASE_ERRAND_H
#define BASE_ERRAND_H

#include <pthread.h>
#include <stdbool.h>

struct errand {
	pthread_t thread;
	bool running; /* not yet waited for */
};

/*
 * Sends a thread to do work(arg). If none can be had, or `worth` says that it
 * would not be worth one, it is done when this returns.
 */
void errand_begin(struct errand *e, void *(*work)(void *), void *arg,
		  bool worth);
/* returns when it is done; may be called again, and for an empty errand */
void errand_end(struct errand *e);

#endif
