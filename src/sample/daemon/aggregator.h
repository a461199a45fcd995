/*
 * aggregator: records become samples of images.
 *
 * They come in the order of time (order.h), so what is mapped in a process when
 * its sample is seen is what was mapped when it was taken: processes that live
 * for a millisecond, numbers of processes that are used again and programs
 * that execute others come out right without a look into /proc. Samples that
 * the kernel has counted (table.h) come later than all else, and say of which
 * lifetime of a process they are (process_history.h).
 */
#ifndef SAMPLE_DAEMON_AGGREGATOR_H
#define SAMPLE_DAEMON_AGGREGATOR_H

#include "sample/daemon/sample_buffer.h"
#include "sample/processes/process_history.h"
#include "sample/kernel/kernel.h"
#include "sample/events/order.h"
#include "sample/processes/proc.h"
#include "sample/kernel/table.h"

struct aggregator {
	struct spaces spaces;
	struct history history;
	struct sample_buffer sample_buffer;
	struct proc_ids ids;
	struct kernel kernel;
	VEC(uint32_t) kernel_image; /* by part; the last: of none. Or empty */
	size_t mapped; /* ranges in all spaces, those that are over, too */
	bool paused;   /* samples mean nothing yet, but all else does */
	bool needs_rescan; /* some process may not be known: a census is
			      due */
	uint64_t samples, unknown; /* of all events */
	uint64_t lost[EVENTS];
};

/* order_fn; those of table_census(), too. The tag is the event */
void collect(void *aggregator, uint32_t event,
	     const struct perf_event_header *h);
/*
 * What the kernel has counted: all records from before the table was flipped
 * must have been collected. Requires: history.kept, from the beginning.
 */
void collect_counted(void *aggregator, const struct counted *x);
/* all samples of a generation are collected */
void aggregator_turn(struct aggregator *c);
/* gives up what is not stored, as lost, if it is of more places than that */
void aggregator_shed(struct aggregator *c, size_t most);
/* what runs already is known, too */
void aggregator_scan(struct aggregator *c);
/*
 * Forgets what is gone, and gives its memory back; requires: all is stored, and
 * nothing came since
 */
void aggregator_tidy(struct aggregator *c);
void aggregator_free(struct aggregator *c);

#endif
