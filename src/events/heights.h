/*
 * heights: query increments, what has to be added to running counters to make
 * them exact at a place (Ball '94, section 3; flow/event.h). They follow from
 * the map, which says what edges are in the tree, and from the original.
 *
 * Those of a procedure are found once, when a thread is first seen in it:
 * threads are asked again and again, and are in few of all procedures.
 */
#ifndef EVENTS_HEIGHTS_H
#define EVENTS_HEIGHTS_H

#include "count/map/map.h"
#include "events/image_events.h"

struct heights;

/* both must outlive it; the map is of running counters (PLACE_RUNNING) */
struct heights *heights_open(const struct map *m, const struct image_events *x);
void heights_close(struct heights *h);

/*
 * The query increments of all events before the instruction at `address`, and
 * whether they are known. Code that is not measured has none: they are 0.
 */
bool heights_at(struct heights *h, uint64_t address, int64_t add[EVENTS_MAX]);

#endif
