/*
 * thread_exits: what it means that a thread ended at an address of a rewritten
 * file, which is all that the running program says (abi/profile_format.h).
 *
 * Between two instructions of the original may lie inserted code, and the
 * thread may have done a part of it. What it was about to do is followed in
 * the file up to the next instruction of the original:
 *
 *	counters on the way there are those of a block that it has entered as
 *	far as we are concerned: what it had not added yet is added
 *
 *	counters before the last instruction of a block are those of an edge
 *	that it did not take: what it had added already is taken back
 *
 * If it was in a hook, or in code that a hook called, it was on its way back
 * from there: return addresses tell.
 *
 * A procedure that is sure to come back (returning.h) did not: its caller was
 * in the middle of a block as well, behind its call. The return addresses say
 * which caller that was; each must be one of a call of the procedure, so that
 * no stale one is believed.
 */
#ifndef COUNT_PROFILE_THREAD_EXITS_H
#define COUNT_PROFILE_THREAD_EXITS_H

#include "count/solve/solve.h"
#include "abi/profile_format.h"
#include "abi/running.h"

/* what a counter has to be changed by, modulo 2^64 */
struct correction {
	uint32_t counter;
	uint64_t add;
};

struct exits {
	struct endings endings;
	VEC(struct correction) correction;
	/*
	 * Of running counters: what has to be added to each event of the
	 * thread to make them what they are before the instruction at `old`,
	 * whose query increment (events/heights.h) is then to be added.
	 */
	int64_t running[RUNNING_EVENTS];
	uint64_t old;
	bool here; /* the thread is at that instruction, in new code too */
	bool lost; /* where the thread was is not known */
};

/* how ends are understood in one file */
struct exits_reader;
/* opens the rewritten file of the map, which must outlive it; NULL and *e */
struct exits_reader *exits_open(const struct map *m, const char *file,
				struct err *e);
void exits_close(struct exits_reader *r);
/* fills *x, to be freed; code that is not measured means nothing */
void exits_read(struct exits_reader *r, const struct process_end *e,
		struct exits *x);
void exits_free(struct exits *x);

#endif
