/*
 * moved: the stretches of code that a rewriter moves, and where they went.
 *
 * One struct moved per part of the cfg that is moved whole. Its new code is
 * its body, instruction by instruction in the old order, and behind it stubs:
 * code on edges that had no room in the body. A stub runs in the frame of the
 * instruction that it leads to.
 */
#ifndef REWRITE_MOVED_H
#define REWRITE_MOVED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "cfg/cfg.h"
#include "rewrite/addr_map.h"

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
/* the same for those that are moved */
size_t moves_cut(const struct moves *m, const struct cfg *c, unsigned t,
		 unsigned n);
/* where an exception lands that was to land at the old pad, from no call */
uint64_t moves_pad(const struct moves *m, uint64_t pad);
void moves_free(struct moves *m);

#endif
