/*
 * order: the records of several rings in the order of their times.
 *
 * Each ring is in order, but one may be behind another: a record can be passed
 * on only when none before it can still arrive. What was in any ring when a
 * round began is before all that comes in later rounds, so a round passes on
 * what is not younger than the youngest of the round before.
 */
#ifndef SAMPLE_EVENTS_ORDER_H
#define SAMPLE_EVENTS_ORDER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/*
 * ring: what the kernel reports of an event, record after record. Memory that
 * it writes and we read; what does not fit is lost, and it says how much was.
 */

struct ring {
	int fd;
	struct perf_event_mmap_page *head;
	uint8_t *data;
	size_t size, page;
};

/* -1 and errno if the memory is refused; the descriptor is the ring's */
int ring_open(struct ring *r, int fd);
void ring_close(struct ring *r);
/* appends all records there are, whole, to out */
typedef VEC(uint8_t) records;
void ring_take(struct ring *r, records *out);

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
/* fn gets what is in order; all: nothing will arrive any more */
void order_round(struct order *o, bool all, order_fn *fn, void *arg);
void order_free(struct order *o);

#endif
