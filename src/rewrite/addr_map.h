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
#ifndef REWRITE_ADDR_MAP_H
#define REWRITE_ADDR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/bucket_index.h"

struct span {
	uint64_t old;	 /* address of its first instruction */
	uint64_t arrive; /* what was inserted before that instruction begins
			    here; == start if nothing was */
	uint32_t fall; /* bytes of code before `arrive` that run only when
			  control comes from the instruction before, or on
			  an edge that has a stub there (lead.h) */
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
uint64_t addr_map_arrive(const struct addr_map *m, uint64_t old);
/* where the instruction itself is; the address itself if not moved */
uint64_t addr_map_insn(const struct addr_map *m, uint64_t old);
/*
 * The end of the code that ends, exclusively, at the old address: behind the
 * instruction before it. The address itself if that was not moved.
 */
uint64_t addr_map_end(const struct addr_map *m, uint64_t old_end);

#endif
