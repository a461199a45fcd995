/*
 * derive: totals of events from how often blocks and edges of an image ran. Any
 * number of events follow from one edge profile: those of a block happen as
 * often as it ran, `taken` as often as the edges that are.
 */
#ifndef EVENTS_DERIVE_H
#define EVENTS_DERIVE_H

#include "count/solve/solve.h"
#include "events/image_events.h"

struct event_total {
	uint64_t n;
	/* what ran has no constant: there were more than n */
	bool more;
	/* n is near the count, above or below: where a process was when it was
	   killed is not known */
	bool near;
};

/* is n the count? */
static inline bool event_total_is_known(const struct event_total *t)
{
	return !t->more && !t->near;
}

/* instructions that ran, of which it is not known how many events they were */
struct event_varies {
	unsigned event;   /* in the list */
	uint32_t proc;    /* in the map */
	uint64_t address; /* the first of them */
	uint64_t count;   /* how often these ran, all of the procedure's */
};

struct event_totals {
	struct event_total at[EVENTS_MAX];
	VEC(struct event_varies) varies; /* by procedure, then event */
};

/* adds what is known of an image; blocks that are not known add nothing */
void events_derive(const struct image_events *x, const struct solved *s,
		   struct event_totals *t);
void event_totals_free(struct event_totals *t);

#endif
