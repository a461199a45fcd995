/*
 * limit: ends a program once a thread of it has counted so much.
 *
 * A thread of ours looks at the running counters in the profile, which the
 * program does not notice. Whether the limit was reached does not depend on
 * when it looked: the caller knows the exact counts at the end.
 */
#ifndef LAUNCH_LIMIT_H
#define LAUNCH_LIMIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

/* what a block's counter is, or was when its thread began */
struct limit_sum {
	uint32_t process, block;
	uint64_t value;
};

/* what was left out of it (abi/phases.h) */
struct limit_left {
	uint32_t process, block;
	uint64_t value; /* at `began`, and if it is stopped all since */
	uint64_t began;
	bool stopped;
};

struct limit {
	const char *profile; /* its file */
	unsigned event;	     /* which is limited, by number */
	uint64_t most;	     /* of it, in one thread */
	VEC(struct limit_sum) sum, began;
	VEC(struct limit_left) left;
	pthread_t thread;
	bool runs, stop, fired;
};

/* begins to look; the profile need not be there yet */
void limit_begin(struct limit *l);
/* the program has ended; whether it was ended for that reason */
bool limit_end(struct limit *l);

#endif
