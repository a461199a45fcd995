/*
 * rings: an event on every CPU, of a process and all that it starts or of the
 * whole system, and what the kernel tells of it, in the order of time.
 */
#ifndef SAMPLE_RINGS_H
#define SAMPLE_RINGS_H

#include "sample/event.h"
#include "sample/order.h"

struct rings {
	VEC(struct ring) ring;
	struct order order;
	uint64_t random;
};

/*
 * Samples of a process begin when it executes a program; of the whole system
 * (EVENT_EVERYBODY) with rings_start(). -1 and errno: it is refused.
 */
int rings_open(struct rings *r, const struct event *v, pid_t pid);
void rings_start(const struct rings *r);
/*
 * Until there is much to take, or something at `also` (-1: nothing); false: the
 * time is over.
 */
bool rings_wait(const struct rings *r, int also, int milliseconds);
/* tells what can be told; all: nothing will come any more */
void rings_round(struct rings *r, const struct event *v, bool all,
		 order_fn *fn, void *arg);
void rings_close(struct rings *r);

#endif
