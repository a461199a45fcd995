/*
 * format: what lies in a trace file (doc/trace.md).
 *
 *	struct trace_header
 *	blocks: struct trace_block, its bytes, zeroes up to a multiple of 8
 *	...
 *	a block that lists the others: struct trace_entry of each
 *	struct trace_footer
 *
 * A block is whole or it is not there: hashes over its head and its bytes
 * tell. The head's is seeded with where in the file it lies, so that what was
 * copied to another place, or into the bytes of another block, is none.
 *
 * The list and the footer are written when the trace ends in order. If they
 * are missing blocks are found by looking for their magic numbers.
 *
 * Of a trace that keeps only its end a ring of fixed size lies behind the
 * header, in which chunks and ends of threads overwrite each other: a block
 * that does not fit before the end of the ring goes to its beginning. The
 * order in which blocks came is that of their serial numbers. All others lie
 * behind the ring.
 */
#ifndef TRACE_FILE_FORMAT_H
#define TRACE_FILE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hash.h"

#define TRACE_MAGIC 0x3163617274796c74u	      /* "tlytrac1" */
#define TRACE_BLOCK_MAGIC 0x316b6c6274796c74u /* "tlytblk1" */
#define TRACE_END_MAGIC 0x31646e6574796c74u   /* "tlytend1" */

enum {
	TRACE_VERSION = 2, /* of one with dense chunks; else the oldest */
	TRACE_OLDEST = 1,  /* that can be read */
	TRACE_ALIGN = 8,   /* of blocks */
	TRACE_ID = 16,	   /* bytes of an image's identity */
};

enum trace_form { TRACE_WHOLE, TRACE_LAST };

struct trace_header {
	uint64_t magic;
	uint32_t version;
	uint32_t form;
	uint64_t ring, ring_size; /* TRACE_LAST */
	uint64_t zero[3];
	uint64_t hash; /* of all before */
};

enum trace_kind {
	TRACE_NOTE = 1,	   /* key '\0' value '\0' */
	TRACE_PROCESS = 2, /* name '\0' */
	TRACE_THREAD = 3,  /* nothing */
	TRACE_IMAGE = 4,   /* compressed */
	TRACE_CHUNK = 5,   /* see chunk.h */
	TRACE_END = 6,	   /* nothing */
	TRACE_LIST = 7,	   /* struct trace_entry of each */
	TRACE_DENSE = 8,   /* a chunk that is packed in another way */
};

/* how the stream of a thread ended */
enum trace_ended {
	TRACE_ENDED_UNKNOWN, /* that was not written: it ends somewhere */
	TRACE_ENDED_COMPLETE,
	TRACE_ENDED_KILLED,  /* up to 64 branches are missing at its end */
	TRACE_ENDED_LIMIT,   /* the file had the size that was allowed */
	TRACE_ENDED_FULL,    /* the disk was full */
	TRACE_ENDED_FAILED,  /* the file could not be written */
	TRACE_ENDED_KINDS,
};

struct trace_block {
	uint64_t magic;
	uint32_t kind;
	uint32_t size; /* of the bytes that follow */
	union {
		struct {
			uint32_t process, thread;
			/* chunk: number of its first part; end: how many parts
			   there were; process: its parent's number */
			uint64_t first;
		};
		uint8_t id[TRACE_ID]; /* image */
	};
	uint32_t parts; /* chunk: how many; end: enum trace_ended */
	uint32_t tid;	/* process: its number in the system */
	uint64_t serial; /* how many blocks were written before */
	uint64_t bytes_hash;
	uint64_t hash; /* of all before, seeded with where it lies */
};

struct trace_entry {
	uint64_t at;
	struct trace_block block;
};

struct trace_footer {
	uint64_t magic;
	uint64_t list; /* where that block lies */
	uint64_t size; /* of the file */
	uint64_t hash; /* of all before */
};

_Static_assert(sizeof(struct trace_header) == 64, "as in doc/trace.md");
_Static_assert(sizeof(struct trace_block) == 64, "as in doc/trace.md");
_Static_assert(sizeof(struct trace_entry) == 72, "as in doc/trace.md");
_Static_assert(sizeof(struct trace_footer) == 32, "as in doc/trace.md");

static inline uint64_t trace_header_hash(const struct trace_header *h)
{
	return hash_bytes(h, offsetof(struct trace_header, hash), 0);
}

static inline uint64_t trace_block_hash(const struct trace_block *b,
					uint64_t at)
{
	return hash_bytes(b, offsetof(struct trace_block, hash), at);
}

/* of what is in a block; NULL is no address to count from */
static inline uint64_t trace_bytes_hash(const void *bytes, size_t n)
{
	return hash_bytes(n ? bytes : "", n, 0);
}

static inline uint64_t trace_footer_hash(const struct trace_footer *f)
{
	return hash_bytes(f, offsetof(struct trace_footer, hash), 0);
}

/* bytes that a block of `size` bytes takes in the file */
static inline uint64_t trace_block_room(uint64_t size)
{
	return sizeof(struct trace_block) +
	       ((size + TRACE_ALIGN - 1) & ~(uint64_t)(TRACE_ALIGN - 1));
}

#endif
