/*
 * rings: events on every CPU, of a process and all that it starts or of the
 * whole system, and what the kernel reports of them, in the order of time.
 */
#ifndef SAMPLE_EVENTS_RINGS_H
#define SAMPLE_EVENTS_RINGS_H

#include "sample/events/event.h"
#include "sample/events/order.h"

struct rings_config {
	const struct event *event;
	size_t events; /* EVENTS at most */
	pid_t pid;     /* or EVENT_EVERYBODY */
	bool turns;    /* one event after the other, not all at once */
};

struct rings {
	struct event event[EVENTS + 1]; /* and perhaps one for sideband */
	size_t events;
	bool turns;
	uint32_t turn; /* the event whose it is */
	VEC(struct ring) ring;
	VEC(uint32_t) of; /* by ring: its event */
	VEC(int) on;	  /* and its CPU */
	pid_t pid;	  /* or EVENT_EVERYBODY */
	struct order order;
	uint64_t random;
};

/*
 * Samples of a process begin when it executes a program; of the whole system
 * with rings_start(). -1 and errno: it is refused.
 */
int rings_open(struct rings *r, const struct rings_config *w);
void rings_start(const struct rings *r);
/*
 * Until there is much to take, or something at `also` (-1: nothing), or so many
 * milliseconds have passed: then it is false.
 */
bool rings_wait(const struct rings *r, int also, int milliseconds);
/* fn gets what is in order, by event; all: nothing will come any more */
void rings_round(struct rings *r, bool all, order_fn *fn, void *arg);
/* a CPU is off: what is left of it has been taken */
void rings_leave(struct rings *r, int cpu);
/* it is on again, and its samples begin; -1: not yet */
int rings_come(struct rings *r, int cpu);
void rings_close(struct rings *r);

#endif
