/*
 * order: the records of several rings in the order of their times.
 *
 * Each ring is in order, but one may be behind another: a record can be told
 * only when none before it can still arrive. What was in any ring when a round
 * began is before all that comes in later rounds, so a round tells what is not
 * younger than the youngest of the round before.
 */
#ifndef SAMPLE_ORDER_H
#define SAMPLE_ORDER_H

#include <stdbool.h>

#include "sample/ring.h"

struct timed {
	uint64_t time;
	size_t at;
	uint32_t tag; /* of the ring that it came from */
};

struct order {
	records bytes;
	VEC(struct timed) item;
	size_t parsed; /* of bytes */
	uint64_t limit, youngest;
};

typedef void order_fn(void *arg, uint32_t tag,
		      const struct perf_event_header *h);

/* where a ring's records are to be put */
static inline records *order_room(struct order *o)
{
	return &o->bytes;
}
/* what was put there since the last time is of a ring with this tag */
void order_tag(struct order *o, uint32_t tag);
/* tells what can be told; all: nothing will arrive any more */
void order_round(struct order *o, bool all, order_fn *fn, void *arg);
void order_free(struct order *o);

#endif
