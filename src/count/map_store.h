/*
 * map_store: what a map that was read keeps, and how it is unpacked. All its
 * columns (map_int.h) are gone through once, when it is read, and found right;
 * from then on a procedure is unpacked by beginning in the middle of each
 * column: marks say where.
 */
#ifndef COUNT_MAP_STORE_H
#define COUNT_MAP_STORE_H

#include "base/buffer.h"
#include "base/bytes.h"
#include "count/callees.h"
#include "count/map_int.h"

enum { INSN_LONGEST = 15 }; /* bytes, on any machine */

/* the columns that have something of every procedure, one behind the other */
enum { INSIDE_FIRST = PART_GAPS, INSIDE_PARTS = PART_CALLS - PART_GAPS + 1 };

struct map_mark {
	uint64_t start, end;   /* its blocks lie between these addresses */
	uint32_t low, high;    /* its counters are among these; low > high:
				  it has none */
	uint32_t counter;      /* the next one expected */
	uint32_t at[INSIDE_PARTS]; /* where its columns begin */
};

struct map_store {
	buffer all; /* the columns */
	struct bytes part[MAP_PARTS];
	struct map_mark *mark; /* by procedure */
	bool *here; /* by procedure: its blocks and edges are there */
	uint64_t held; /* blocks and edges that were turned to */
	struct callees callees;
};

struct unpacker {
	struct map *m;
	struct bytes part[MAP_PARTS];
	const char *where;
	struct err *e;
	VEC(const char *) reason;
	uint64_t *used; /* a bit for each counter that has a place */
	struct map_mark *mark; /* of the procedure; NULL: it was read before */
	struct map_block *block; /* where those of the procedure go */
	struct map_edge *edge;
	uint32_t counter; /* the next one expected */
	uint64_t nproc, nblock, nedge, nsite, nin_place; /* announced */
	uint64_t nbyte; /* of all parts */
};

/* a part does not say what it should; -1 */
int unpack_fail(const struct unpacker *k, enum map_part part,
		const char *why);

/* a number of at most `most`; false if it is larger or not there */
static inline bool unpack_number(struct bytes *b, uint64_t most, uint64_t *n)
{
	*n = bytes_uleb(b);
	return !b->bad && *n <= most;
}

/* the same for numbers of 32 bits */
static inline bool unpack_u32(struct bytes *b, uint64_t most, uint32_t *n)
{
	uint64_t wide;

	if (!unpack_number(b, most < UINT32_MAX ? most : UINT32_MAX, &wide))
		return false;
	*n = (uint32_t)wide;
	return true;
}

/* map_inside.c: all blocks and edges are gone through, and marked */
int unpack_insides(struct unpacker *k);

#endif
