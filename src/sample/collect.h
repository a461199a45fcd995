/*
 * collect: records become samples of images.
 *
 * They come in the order of time (order.h), so what is mapped in a process when
 * its sample is seen is what was mapped when it was taken: processes that live
 * for a millisecond, numbers of processes that are used again and programs
 * that execute others come out right without anybody asking /proc. Samples that
 * the kernel has counted (table.h) come later than all else, and say of which
 * incarnation of a process they are (incarnation.h).
 */
#ifndef SAMPLE_COLLECT_H
#define SAMPLE_COLLECT_H

#include "base/intern.h"
#include "sample/incarnation.h"
#include "sample/kernel.h"
#include "sample/order.h"
#include "sample/proc.h"
#include "sample/table.h"
#include "store/store.h"

struct seen_image {
	struct stored_image is; /* its path is kept by the collector */
	run fresh;		/* samples that are not stored yet */
	size_t settled;		/* of these, so many are in order */
};

struct seen_process {
	uint32_t pid;
	const char *name;
	uint64_t fresh; /* samples that are not stored yet */
};

struct collector {
	struct spaces spaces;
	struct past past;
	struct intern key; /* of images: build-id, kind and path */
	VEC(struct seen_image) image; /* by number of the key */
	struct intern text; /* paths, names */
	VEC(struct seen_process) process;
	struct proc_ids ids;
	struct kernel kernel;
	VEC(uint32_t) kernel_image; /* by part; the last: of none. Or empty */
	bool deaf; /* samples mean nothing yet, but all else does */
	bool puzzled; /* somebody is not who we thought: a census is due */
	uint64_t samples, unknown, lost;
	uint64_t fresh; /* samples that are not stored yet */
};

/* order_fn; those of table_census(), too */
void collect(void *collector, const struct perf_event_header *h);
/*
 * What the kernel has counted: all that was told before the table was flipped
 * must have been collected. Requires: past.kept, from the beginning.
 */
void collect_counted(void *collector, const struct counted *x);
/* all samples of a generation are collected */
void collector_turn(struct collector *c);
/*
 * Puts what is fresh into the database, all in one: a crash leaves all of it
 * or nothing.
 */
int collector_store(struct collector *c, struct store *s, int64_t epoch,
		    const struct stored_event *event, struct err *e);
/* gives up what is not stored, as lost, if it is of more places than that */
void collector_shed(struct collector *c, size_t most);
/* what runs already is known, too */
void collector_scan(struct collector *c);
/* forgets who is gone; requires: collector_store(), and nothing since */
void collector_tidy(struct collector *c);
void collector_free(struct collector *c);

#endif
