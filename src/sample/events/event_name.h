/*
 * event_name: events by the names that people know, as `perf list` has them,
 * and lists of those.
 */
#ifndef SAMPLE_EVENTS_EVENT_NAME_H
#define SAMPLE_EVENTS_EVENT_NAME_H

#include "sample/events/event.h"

/*
 * Reads "NAME[:PERIOD],...": what is sampled, and once in how many of it. With
 * no period, so often that there are `rate` samples per second and CPU; "time"
 * is the best there is for that (event_choose()). rHEX is an event by the
 * number that the processor's manual gives to it. How many there are, at most
 * EVENTS, or -1 and *e.
 */
int events_read(struct event v[EVENTS], const char *list, uint64_t rate,
		struct err *e);

#endif
