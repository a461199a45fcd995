/*
 * placer: running counters of events (Ball '94) in every procedure. The edges
 * outside of a spanning tree add constants; going along any other changes what
 * has to be added to the counters to make them exact, the query increment.
 *
 * In the graph of a procedure all ways in come from EXIT, and all ways out lead
 * there, calls too (count/map/map.h). There the query increment is 0: counters
 * are exact at every call and return, whatever becomes of the frame.
 */
#ifndef EVENTS_PLACER_H
#define EVENTS_PLACER_H

#include "count/place/placing.h"
#include "events/image_events.h"
#include "flow/event.h"

struct event_placer {
	struct placer placer; /* for struct count_options */
	struct image_events events;
	const struct call_code *calls; /* calls are seen, or NULL */
	bool traps; /* additions of the first event may trap (isa/move.h) */
	/* when all is placed: how far its running counter may be from exact */
	uint64_t *highest;
};

/* list and image must outlive it */
void event_placer_begin(struct event_placer *x, const struct image *im,
			const struct event_list *list, bool traps,
			const struct call_code *calls);
void event_placer_free(struct event_placer *x);

#endif
