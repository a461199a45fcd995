/*
 * map_store: what a map that was read keeps, and how it is unpacked. The front
 * (map_int.h) is read at once. A chunk is read when something inside of one of
 * its procedures is needed: its columns are gone through once, and found right;
 * from then on a procedure is unpacked by beginning in the middle of each
 * column: marks say where.
 */
#ifndef COUNT_MAP_MAP_STORE_H
#define COUNT_MAP_MAP_STORE_H

#include <pthread.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "count/map/map_graph.h"
#include "count/map/map_int.h"

enum { INSN_LONGEST = 15 }; /* bytes, on any machine */

struct map_mark {
	uint64_t start, end;   /* its blocks lie between these addresses */
	uint32_t low, high;    /* its counters are among these; low > high:
				  it has none */
	uint32_t counter;      /* the next one expected */
	uint32_t at[INSIDE_PARTS]; /* where its columns begin */
};

struct map_chunk {
	uint32_t proc, nproc;  /* its procedures */
	uint32_t low, high;    /* as those of a mark, of all of them */
	uint64_t start, end;
	size_t length, nlength; /* its lengths, in map.length */
	const uint8_t *packed; /* in map_store.packed */
	size_t size;
	buffer all;	       /* its columns, when it was read; version 3
				  has them in the front */
	struct bytes part[INSIDE_PARTS];
	bool was_read;
	bool broken; /* nothing can be unpacked */
};

struct map_store {
	const char *where; /* for messages */
	unsigned version;
	struct arena arena; /* of what is said of broken chunks */
	buffer front;	   /* its columns */
	buffer packed;	   /* the chunks */
	VEC(struct map_chunk) chunk; /* by procedure */
	pthread_mutex_t lock; /* to read a chunk */
	uint64_t *used; /* a bit for each counter that has a place */
	struct map_mark *mark; /* by procedure, of chunks that were read */
	bool *here; /* by procedure: its blocks and edges are there */
	bool *open; /* see map_open() */
	uint64_t held; /* blocks and edges that were turned to */
	struct callees callees;
};

struct unpacker {
	const struct map *m;
	struct map *made; /* m, while its front is read */
	struct bytes part[MAP_PARTS];
	unsigned version;
	const char *where;
	struct err *e;
	VEC(const char *) reason;
	const struct map_chunk *chunk; /* that is being read; or NULL: what is
					  unpacked was found right before */
	struct map_mark *mark; /* of the procedure, if so */
	struct map_block *block; /* where those of the procedure go */
	struct map_edge *edge;
	size_t length;	  /* of the chunk's: first in map.length */
	uint32_t counter; /* the next one expected */
	uint64_t nproc, nblock, nedge, nsite, nin_place; /* announced */
	uint64_t nbyte; /* of all parts, at most */
};

/* a number of at most `most`; false if it is larger or not there */
static inline bool unpack_number(struct bytes *b, uint64_t most, uint64_t *n)
{
	*n = bytes_uleb(b);
	return !b->bad && *n <= most;
}

/* unpack_number() of 32 bits */
static inline bool unpack_u32(struct bytes *b, uint64_t most, uint32_t *n)
{
	uint64_t wide;

	if (!unpack_number(b, most < UINT32_MAX ? most : UINT32_MAX, &wide))
		return false;
	*n = (uint32_t)wide;
	return true;
}

/* a part does not say what it should; -1 */
int unpack_fail(const struct unpacker *k, enum map_part part,
		const char *why);
/* a chunk's parts are gone through, and marked */
int unpack_insides(struct unpacker *k, const struct map_chunk *c);
/* cuts bytes into the parts that a front has, or a chunk */
int unpack_parts(struct unpacker *k, const buffer *all, bool inside);

#endif
