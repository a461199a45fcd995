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

#include "abi/trace.h"
#include "trace/regenerate/mappings.h"
#include "trace/regenerate/stream.h"

enum walk_kind {
	WALK_BLOCK, /* instructions of one block ran */
	WALK_GAP,   /* code ran that is not traced, from `address` on; 0: not
		       known where */
	WALK_SIGNAL, /* a handler of the signal `number` is about to run, that
			arrived at `address`, as it ran */
	WALK_RESUME, /* it has returned */
	WALK_LOST,  /* where the thread went is not known up to the next step */
	WALK_END,   /* there is no more */
};

/* how the walk came to a place */
enum walk_by {
	BY_BRANCH, /* an edge of the procedure */
	BY_CALL,
	BY_RETURN, /* of what was called */
	BY_JUMP,   /* to another procedure, or out of a gap by a return */
	BY_ENTRY,  /* code that is not traced has called */
	BY_BEGIN,  /* of the thread, or after it was lost */
};

/* what the trace says of the place where a step begins */
enum walk_tells {
	WALK_TELLS_SP = 1,     /* the stack pointer */
	WALK_TELLS_VALUES = 2, /* how many values of registers were written */
};

struct walk_step {
	uint8_t kind, by;
	uint8_t told; /* enum walk_tells bits */
	uint64_t sp, values;
	uint32_t number; /* of a signal */
	struct replay_image *image;
	const struct proc_plan *plan;
	uint32_t vertex;
	uint32_t edge;	  /* of the map by which it was reached, or MAP_NONE */
	uint32_t first, n; /* instructions of the block: it may be told in
			      parts, where a handler came in between */
	uint64_t address; /* where it begins, in the original; of a gap as it
			     ran */
	uint64_t base; /* what was added to addresses of the original */
	size_t depth;	  /* calls that are open */
	const char *why;  /* it is lost, or the end */
};

struct walk_frame {
	struct replay_place site; /* the block that called; image NULL: code
				     that is not traced */
	/* it did not call, but was interrupted, there; what is left of its
	   way, and of the block where it is, if that is not told yet */
	bool interrupted;
	uint64_t pc;
	const uint32_t *way;
	uint32_t nway;
	bool fresh;
	uint32_t first, edge;
	uint8_t by;
	uint32_t prefix; /* bits of a code that was half written */
	uint8_t nprefix;
	struct walk_step rest; /* of a block that was left by then */
};

/* where indirect jumps led, as the thread that wrote them knew it */
struct walk_targets {
	uint64_t by_index[1 << TARGET_BITS];
	VEC(uint64_t) key, last; /* by site: a hash table, its size a power of
				    two; key 0: none */
	size_t n;
};

enum {
	WALK_PLACES = 4096,
	WALK_NEXT = 4, /* steps that are told at once, at most */
};

/* the calls that were open when a process was made, and where images were */
struct walk_fork {
	uint32_t process;
	struct mappings mappings;
	VEC(struct walk_frame) frame;
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
	VEC(struct walk_frame) frame; /* the innermost is last */
	struct replay_place at; /* image NULL: in a gap, or lost */
	uint32_t edge;
	uint8_t by;
	uint32_t silent; /* blocks since a code was read */
	bool fresh; /* the place was not told yet, from `first` on */
	uint32_t first;
	/* the block that was told last: what follows may say that a part of it
	   came later */
	struct walk_step held;
	bool holds;
	/* the calls that were open when a process was made in this memory */
	VEC(struct walk_frame) vfork;
	uint8_t told; /* of the place, as in a step */
	uint64_t sp, values;
	struct walk_step next[WALK_NEXT]; /* to be given */
	uint32_t nnext;
	uint32_t prefix; /* of a code, that was read */
	uint8_t nprefix;
	bool gap;   /* nor was the gap */
	bool lost, over, again;
	const char *why;
	const uint32_t *way; /* edges that are still to be gone along */
	uint32_t nway;
	struct walk_targets targets;
	/* addresses that were looked up, by a hash of them */
	struct {
		const struct replay_image *image; /* NULL: as it ran */
		uint64_t address;
		uint32_t known; /* walk.mapped then, or 0 */
		struct replay_place place;
	} *cache;
};

void walk_begin(struct walk *w, struct walks *x,
		const struct trace_thread *t);
void walk_next(struct walk *w, struct walk_step *s);
void walk_end(struct walk *w);

#endif
