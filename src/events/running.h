/*
 * running: where the words of the running page are (count/place/counter_code.h)
 * that events are added up in.
 *
 * An event has several words, lanes, whose sum is its count. A processor that
 * adds to one word in memory twice in a row waits for the first addition to
 * be stored; code that runs in turns uses different lanes (placer.c).
 */
#ifndef EVENTS_RUNNING_H
#define EVENTS_RUNNING_H

#include "abi/running.h"
#include "events/event_list.h"

_Static_assert((int)RUNNING_EVENTS == (int)EVENTS_MAX, "all that are listed");

#endif
