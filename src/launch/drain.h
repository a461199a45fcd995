/*
 * drain: takes what the threads of a traced run write out of their rings
 * (abi/trace.h), and hands it to the writer of the trace, while the program
 * runs. A thread of ours does that: traced threads wait for it if they are
 * faster.
 *
 * The profile is read, not mapped, but for futexes: the program may truncate
 * it, or write anything there.
 */
#ifndef LAUNCH_DRAIN_H
#define LAUNCH_DRAIN_H

#include <pthread.h>
#include <stdbool.h>

#include "abi/trace.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/file/writer.h"

/* the ring of a block of counters, whose threads follow one another */
struct drain_ring {
	uint64_t at; /* of its chunk in the file */
	uint32_t process;
	uint32_t *wake; /* its futex, mapped; NULL: it cannot be */
	uint64_t mapped; /* bytes */
	void *map;
	uint32_t done; /* parts that were taken */
	uint32_t last; /* the thread of the last one */
};

struct drain {
	const char *profile;
	struct trace_writer *writer;
	int fd;
	VEC(uint64_t) seen; /* chunks that are known, ascending */
	VEC(struct drain_ring) ring;
	uint8_t value[TRACE_PART_VALUES]; /* of a part */
	pthread_t thread;
	bool runs, stop;
	bool took; /* something was written */
	struct err e; /* what the writer said first; code 0: nothing */
};

/* begins; the profile need not be there yet */
void drain_begin(struct drain *d);
/* the program has ended: takes what is left */
void drain_end(struct drain *d);

#endif
