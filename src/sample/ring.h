/*
 * ring: what the kernel tells of an event, record after record. Memory that it
 * writes and we read; what does not fit is lost, and it says how much was.
 */
#ifndef SAMPLE_RING_H
#define SAMPLE_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

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

#endif
