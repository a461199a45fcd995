/*
 * walk: the path of a thread, regenerated from its stream: block after block
 * (Ball & Larus '92, 4: abstract execution).
 *
 * A pull iterator. It follows the graphs of procedures, asks the stream where
 * there is a choice, and keeps the stack of calls. Where code is not traced
 * there is a gap (trace/place/departures.h).
 */
#ifndef TRACE_REGENERATE_WALK_H
#define TRACE_REGENERATE_WALK_H

#include "trace/regenerate/mappings.h"
#include "trace/regenerate/stacks.h"
#include "trace/regenerate/targets.h"
#include "trace/regenerate/unwind.h"

#define WALK_NEVER UINT64_MAX /* no part */

enum {
	WALK_PLACES = 4096,
	/* a power of two: steps that are told at once, at most 4, the one that
	   is held before, and two that were given */
	WALK_QUEUE = 8,
};

/* the calls that were open when a process was made, and where images were */
struct walk_fork {
	uint32_t process;
	struct stacks stacks;
	struct mappings mappings;
};

/* what walks through threads of one trace know of each other */
struct walks {
	const struct trace_file *file;
	struct replay_images images;
	VEC(struct walk_fork) fork;
};

int walks_open(struct walks *x, const struct trace_file *f, struct err *e);
void walks_close(struct walks *x);

struct walk {
	struct walks *all;
	struct stream stream;
	struct mappings mappings;
	uint32_t mapped; /* how often addresses have changed their places */
	struct stacks stacks;
	struct replay_place at; /* image NULL: in a gap, or lost */
	uint64_t caller; /* the stack pointer of what called the procedure where
			    control is; 0: not known */
	uint32_t edge;
	uint8_t by;
	uint32_t silent; /* blocks since a code was read */
	bool fresh; /* the place was not told yet, from `first` on */
	uint32_t first;
	/* what was told and is not given yet, a ring that begins at `given`.
	   The last one is held: what follows may say that a part of that block
	   came later */
	struct walk_step queue[WALK_QUEUE];
	uint32_t given, ntold;
	bool holds;
	/* not n 0: what was told last of what goes on now, before a handler
	   interrupted it; nothing was since */
	struct walk_step before;
	/* control is in a process that was made in this memory, and what it was
	   in then, with the calls that were open */
	bool vforked;
	struct stacks vfork;
	uint64_t vfork_caller;
	uint8_t told; /* of the place, as in a step */
	uint64_t sp, values;
	uint32_t prefix; /* of a code, that was read */
	uint8_t nprefix;
	bool gap;   /* nor was the gap */
	bool lost, over, again;
	bool paused; /* it is lost since it was not traced */
	const char *why;
	const uint32_t *way; /* edges that are still to be gone along */
	uint32_t nway;
	/* blocks of a run that were not told yet: control is behind them
	   (runs.h) */
	const struct run_block *run;
	uint32_t nrun;
	struct targets targets;
	struct walk_counts *counts; /* NULL: it does not count */
	struct walk_states *states; /* NULL: it does not compare */
	/* states of the stream that it has come to, and the last that it has
	   gone on with, by number from 1 */
	uint64_t nstate, began;
	uint32_t start;	 /* the way that it began with */
	size_t nopen;	 /* calls that are open and not told yet */
	/*
	 * Of a walk through a piece of a thread: it ends at the first state
	 * from part `stop' on that says where control is (WALK_NEVER: at the
	 * thread's end). It has come there if that state is the one of part
	 * `stopped'; the one that it began with is that of part `started'.
	 */
	uint64_t stop, stopped, started;
	bool waits; /* for the state that it begins with */
	/* it needed to know more of the calls that were open when it began than
	   a state tells */
	bool strange;
	/* addresses that were looked up, by a hash of them */
	struct {
		const struct replay_image *image; /* NULL: as it ran */
		uint64_t address;
		uint32_t known; /* walk.mapped then, or 0 */
		struct replay_place place;
	} *cache;
};

/* a frame ended in the middle of a block, or behind it without leaving */
struct walk_death {
	const struct replay_image *image;
	const struct proc_plan *plan;
	uint32_t vertex;
	uint32_t insn; /* the first instruction that did not run; their number:
			  all did */
};

/*
 * What a walk counts, if it was given one: how often control went along each
 * edge of the map, in struct proc_plan; also along those from and to EXIT.
 */
struct walk_counts {
	VEC(struct walk_death) death;
	bool left; /* control has gone along an edge in this step */
	bool unsure; /* a frame ended of which it is not known where exactly */
};

struct walk_start; /* walk_int.h */

/*
 * What is found by the states that a thread has written (RING_STATE), compared
 * with where a walk that has come there is, if it was given one of these: for
 * tests.
 */
struct walk_states {
	uint64_t seen; /* so many were passed, */
	uint64_t met;  /* where the walk was at the end of an edge's code, */
	uint64_t found; /* and the state says where that is: */
	uint64_t same;	/* all of it as the walk knows it */
	uint64_t frames; /* of those that were found */
	/* of those that are not: what differs; or NULL */
	void (*differs)(const struct walk *w, const struct walk_start *s,
			const char *what);
};

void walk_begin(struct walk *w, struct walks *x,
		const struct trace_thread *t);
/* with the first state in that chunk of the thread, or behind it, that says
   where control is, if that is not the first */
void walk_begin_piece(struct walk *w, struct walks *x,
		      const struct trace_thread *t, size_t chunk);
/* what is next. It stays until the one after the next is asked for, and may be
   changed */
struct walk_step *walk_next(struct walk *w);
void walk_end(struct walk *w);

#endif
