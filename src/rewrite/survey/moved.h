/*
 * moved: the ranges of code that a rewriter moves, and where they went.
 *
 * One struct moved per part of the cfg that is moved whole. Its new code is
 * its body, instruction by instruction in the old order, and behind it stubs:
 * code on edges that had no room in the body. A stub runs in the frame of the
 * instruction that it leads to.
 */
#ifndef REWRITE_SURVEY_MOVED_H
#define REWRITE_SURVEY_MOVED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket_index.h"
#include "base/mem.h"
#include "cfg/cfg.h"

/*
 * addr_map: where moved code went.
 *
 * Old addresses are the original file's, new ones those of the copy. Code is
 * moved in spans: inside one, every instruction keeps its length and its
 * neighbour, so old and new addresses differ by a constant. A span begins at
 * an instruction; code that a plan inserted before that instruction lies
 * directly before the span's new address, from `arrive` on.
 *
 * What was not moved is its own new address.
 */

struct span {
	uint64_t old;	 /* address of its first instruction */
	uint64_t arrive; /* what was inserted before that instruction begins
			    here; == start if nothing was */
	uint32_t fall; /* bytes of code before `arrive` that run only when
			  control comes from the instruction before, or on
			  an edge that has a stub there (edge_code.h) */
	uint64_t start;	 /* new address of that instruction */
	uint32_t size;	 /* bytes of old code covered */
	uint32_t new_size; /* bytes of new code: another form of a single
			      instruction may be longer; else == size */
	uint8_t form; /* of its only instruction, if that is not one of the
			 same length (isa/move.h); else MOVE_COPY */
	uint32_t glue; /* bytes of a jump to the old code's successor, which
			  was its neighbour and is not the copy's, and what
			  is inserted on the way, all in new_size; 0: none */
};

struct addr_map {
	VEC(struct span) span; /* by old address, disjoint */
	struct bucket_index bucket_index; /* to them, or none yet */
};

/* when all spans are there: makes the rest fast */
void addr_map_seal(struct addr_map *m);

/* the span that holds the old address, or NULL if that was not moved */
const struct span *addr_map_span(const struct addr_map *m, uint64_t old);
/*
 * Where control goes that is sent to the old address: what was inserted
 * before the instruction there comes first. The address itself if not moved.
 */
uint64_t addr_map_entry(const struct addr_map *m, uint64_t old);
/* where the instruction itself is; the address itself if not moved */
uint64_t addr_map_insn(const struct addr_map *m, uint64_t old);
/*
 * The end of the code that ends, exclusively, at the old address: behind the
 * instruction before it. The address itself if that was not moved.
 */
uint64_t addr_map_end(const struct addr_map *m, uint64_t old_end);

/* code behind a body that belongs to the frame at an old address */
struct stub {
	uint64_t start, end; /* new addresses */
	uint64_t like;	     /* old address of the instruction led to */
};

/* a place in the body where inserted code moved the stack pointer down */
struct push {
	uint64_t start, end; /* new addresses between which it is down */
	uint32_t bytes;
};

/* a landing pad of a call that gets a stub of its own */
struct landing {
	uint64_t from, end; /* old addresses of the call, which ends there; 0:
			       of whatever has no stub of its own */
	uint64_t pad;	    /* old address of the landing pad */
	uint64_t addr;	    /* new address of the stub that leads to it */
};

struct moved {
	uint64_t old_start, old_end; /* as of the part */
	uint64_t start; /* new code: the body from here */
	uint64_t body_end;
	uint64_t end; /* stubs up to here */
	uint32_t part; /* in the cfg */
	uint32_t fde;  /* in the unwind table, or UINT32_MAX */
	uint32_t stub, nstub; /* in struct moves, by address */
	uint32_t push, npush;
};

struct moves {
	VEC(struct moved) moved; /* by old address, and so by new address */
	VEC(struct stub) stub;
	VEC(struct push) push;
	VEC(struct landing) landing; /* by `from`, and then by pad */
	struct addr_map map;
	VEC(uint32_t) of_part; /* by part: its number in `moved`, plus 1 */
	bool old_runs; /* old code is not all jumps: it could still be run, and
			  its unwind tables stay */
};

/* when `moved` is complete: for moves_part() */
void moves_seal(struct moves *m);

/* the moved part of that number in the cfg, or NULL if it stayed */
const struct moved *moves_part(const struct moves *m, uint32_t part);
/* where share t begins, if parts are cut into n of about as many blocks */
uint32_t parts_cut(const struct cfg *c, unsigned t, unsigned n);
/* where share t of n of the parts that move begins */
size_t moves_cut(const struct moves *m, const struct cfg *c, unsigned t,
		 unsigned n);
/* where an exception lands that was to land at the old pad, from no call */
uint64_t moves_pad(const struct moves *m, uint64_t pad);
void moves_free(struct moves *m);

/*
 * place: where the addresses of one moved part went, for tables that describe
 * it. Unlike addr_map's, its answers never leave the part's body: what lies
 * between two spans (data, padding that was dropped) goes to the next span's
 * beginning, or the last one's end.
 */

struct place {
	const struct moved *moved;
	const struct span *span; /* those that hold code of the part */
	size_t nspan;
};

void place_open(struct place *p, const struct moves *m,
		const struct moved *moved);
/* where what belongs to the instruction at the old address begins */
uint64_t place_entry(const struct place *p, uint64_t old);
/* where the code that ends at the old address ends */
uint64_t place_end(const struct place *p, uint64_t old_end);

#endif
