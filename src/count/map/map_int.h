/*
 * map_int: the map as bytes: a head, a front, and chunks of procedures. Front
 * and chunks are compressed (compress.h), each by itself: to know
 * what a run did it is enough to read the front, and the chunks of procedures
 * that ran. The head:
 *
 *	8   MAP_MAGIC
 *	4   MAP_VERSION
 *	4   how many counters; MAP_EDGES: one for each edge, see map.h
 *	16  id of the image
 *	8   hash of all that follows the head, seeded by its first 32 bytes'
 *	8   bytes of the front, compressed
 *
 * Version 3 ends the head before that, and has everything in one front;
 * version 4 has neither `callers' nor `codes', version 5 no `slices'.
 *
 * Parts are each its length (LEB128) and that many bytes. Numbers are LEB128,
 * those that may be negative signed. Each part is a column, for equal things
 * beside each other compress well. Of the front:
 *
 *	about       path, machine and so on; how many of everything; 1 if
 *		    it has some procedures alone, or nothing
 *	reasons     strings; others name them by number + 1, 0: none
 *	procedures  entry - last one's; nblock; nhub; nedge;
 *	            root times 2, plus 1 for a stub; reason
 *	names       strings, "" for none
 *	sites       of indirect jumps and calls: (block - the last one's - 1)
 *	            times 4, plus 1 for a call, plus 2 if it has pairs
 *	in place    start - last one's end; size; reason
 *	chunks      procedures; bytes, compressed; lengths; the lowest counter;
 *	            how many from there to the highest; the lowest address -
 *	            first procedure's entry; bytes to the highest
 *	open        procedures that may have run though their counters are 0:
 *	            each less the last one
 *	called      addresses that edges call: each less the last one
 *	callers     of each procedure: edges that call (map_calls.h)
 *
 * Of a chunk:
 *
 *	gaps        of each block: start - end of the one before it in its
 *	            procedure, of the first: - entry
 *	sizes       of each block: instructions
 *	marks       of each block, if blocks have counters: 1, and its own
 *	            like those of edges; or 0
 *	lengths     of all instructions, a byte each, if they differ
 *	edges       a byte each:
 *	                bits 0-3  kind
 *	                bit  4    it has a counter
 *	                bits 5-6  from: enum map_from
 *	                bit  7    to is not as expected
 *	ends        of edges: what is not as expected, less what is
 *	counters    of edges, less the last one's + 1
 *	calls       of MAP_BACK, MAP_PAD: 0: unknown, else (to - 1 - call)
 *	            zigzag + 1; of MAP_CALL, MAP_OVER, MAP_TAIL, MAP_NORETURN:
 *	            enum map_callee, or the procedure's number above that
 *	codes       of each edge, if they write traces: bits of its code + 16
 *	            times enum map_write, + CODE_HEIGHT if its height
 *	            is known; the code, if it has bits; the height: align + 16 *
 *	            words, signed, and `before`, signed, if it is aligned
 *	slices      of each procedure, if it writes traces: how many bytes,
 *	            and these
 *
 * A typical edge is a fall from the last edge's block or the one behind it
 * to the next, or leaves: one byte.
 */
#ifndef COUNT_MAP_MAP_INT_H
#define COUNT_MAP_MAP_INT_H

#include "count/map/map.h"
#include "abi/hash.h"

#define MAP_MAGIC UINT64_C(0x3170616d796c6c74) /* "tllymap1" */

#define MAP_EDGES (UINT32_C(1) << 31)

enum {
	/* where in the head the number of counters is, and the hash */
	MAP_NCOUNTER = 12,
	MAP_HASH = 32,
	MAP_HEAD = MAP_HASH + 8, /* bytes of it; the front's size follows */
};

/* the hash that the head of `size` packed bytes should have */
static inline uint64_t map_hash(const uint8_t *bytes, size_t size)
{
	return hash_bytes(bytes + MAP_HEAD, size - MAP_HEAD,
			  hash_bytes(bytes, MAP_HASH, 0));
}

/* the head of `size` packed bytes gets the hash that they have */
static inline void map_seal(uint8_t *bytes, size_t size)
{
	uint64_t hash = map_hash(bytes, size);

	memcpy(bytes + MAP_HASH, &hash, sizeof hash);
}

enum map_part {
	PART_ABOUT,
	PART_REASONS,
	PART_PROCS,
	PART_NAMES,
	PART_GAPS,
	PART_SIZES,
	PART_MARKS,
	PART_LENGTHS,
	PART_EDGES,
	PART_ENDS,
	PART_COUNTERS,
	PART_CALLS,
	PART_CODES,
	PART_SLICES,
	PART_SITES,
	PART_IN_PLACE,
	PART_CHUNKS,
	PART_OPEN,
	PART_CALLED,
	PART_CALLERS,
	MAP_PARTS,
};

/* the columns of a chunk: what is inside of its procedures */
enum { INSIDE_FIRST = PART_GAPS, INSIDE_PARTS = PART_SLICES - PART_GAPS + 1 };

static inline bool map_part_is_inside(enum map_part part)
{
	return part >= PART_GAPS && part <= PART_SLICES;
}

enum map_from {
	FROM_SAME, /* as the last edge that did not come from EXIT */
	FROM_NEXT, /* the vertex behind that */
	FROM_EXIT,
	FROM_TOLD,
};

enum map_callee {
	CALLEE_UNKNOWN,
	CALLEE_TOLD, /* address - the procedure's entry, signed, follows */
	CALLEE_PROC, /* first procedure */
};

enum {
	EDGE_KIND = 15,
	EDGE_COUNTED = 1 << 4,
	EDGE_FROM = 5, /* shift */
	EDGE_TO_TOLD = 1 << 7,
};

enum {
	CODE_BITS = 4, /* of a code's length */
	CODE_HEIGHT = (MAP_WRITES_ALL + 1) << CODE_BITS,
};

enum {
	SITE_CALL = 1,
	SITE_PAIRS = 2,
	SITE_BITS = 2,
};

/* where an edge is expected to lead, from those before it in its procedure */
struct map_guess {
	uint32_t exit;	  /* EXIT's vertex */
	uint32_t from;	  /* of the last edge that began in the procedure */
	uint32_t arrives; /* the next edge from EXIT */
};

static inline bool map_kind_leaves(unsigned kind)
{
	return kind >= MAP_CALL && kind <= MAP_STAYS;
}

static inline bool map_kind_arrives(unsigned kind)
{
	return kind >= MAP_BACK;
}

/* an edge of that kind can say which procedure it calls */
static inline bool map_kind_calls(unsigned kind)
{
	return kind == MAP_CALL || kind == MAP_OVER || kind == MAP_TAIL ||
	       kind == MAP_NORETURN;
}

/* MAP_BACK, MAP_PAD: it can say which call it belongs to */
static inline bool map_kind_returns(unsigned kind)
{
	return kind == MAP_BACK || kind == MAP_PAD;
}

static inline uint32_t map_guess_to(const struct map_guess *g, unsigned kind,
				    uint32_t from)
{
	if (map_kind_leaves(kind))
		return g->exit;
	return from == g->exit ? g->arrives : from + 1;
}

static inline void map_guess_after(struct map_guess *g,
				   const struct map_edge *d)
{
	if (d->from == g->exit) {
		g->arrives = d->to;
		return;
	}
	g->from = d->from;
	if (d->kind == MAP_CALL)
		g->arrives = d->from + 1;
}

static inline uint64_t map_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline int64_t map_unzigzag(uint64_t n)
{
	return (int64_t)(n >> 1 ^ -(n & 1));
}

#endif
