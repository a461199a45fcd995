/*
 * event_places: what has to be added to the running counters of a thread to
 * make them exact, by where it is in rewritten code: what inserted code around
 * there has done (count/profile/thread_exits.h), and the query increment of
 * the instruction that is next (heights.h).
 */
#ifndef EVENTS_EVENT_PLACES_H
#define EVENTS_EVENT_PLACES_H

#include "count/profile/profile.h"
#include "events/event_list.h"

struct event_places;

/* both must outlive it; the profile's images are its */
struct event_places *event_places_open(const struct profile *p,
				       const struct event_list *list);
void event_places_close(struct event_places *x);

struct event_place {
	int64_t add[EVENTS_MAX]; /* for one thread */
	const struct map *map; /* of the image */
	uint64_t old; /* the instruction that is next, in the original */
	bool here;    /* the thread is at it: no inserted code is before it */
};

/* false: it is not known */
bool event_places_find(struct event_places *x, const struct process_end *end,
		       struct event_place *p);

/*
 * Some instructions of the original have none of their own in new code, as
 * others do what they did (rewrite/insert/plt_stubs.h). The address of the one
 * before p->old, in its block, from which on the event with that number happens
 * `more` times up to there; 0: there is none.
 */
uint64_t event_places_back(struct event_places *x,
			   const struct process_end *end,
			   const struct event_place *p, unsigned event,
			   uint64_t more);

#endif
