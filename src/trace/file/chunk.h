/*
 * chunk: some parts of one thread's stream as bytes, and back.
 *
 * The thread writes 64-bit words, into buffers that become parts as they are.
 * Where its highest one bit is tells what a word is:
 *
 *	63        56 55                   16 15     8 7      0
 *	+-----------+-----------------------+--------+--------+
 *	| not all 0: 56 to 63 bits of trace, below the one bit |
 *	+-----------+-----------------------+--------+--------+
 *	|     0     |        number         |  n > 0 |  kind  |  a record
 *	+-----------+-----------------------+--------+--------+
 *	                                     n words follow: the bits that were
 *	                                     not written yet, below a one bit;
 *	                                     n - 1 words of the record
 *
 * A chunk has the bits of each part without gaps, the first one highest in its
 * byte, and records as columns: of each kind and field what it differs by from
 * the last record of this kind, so that what repeats becomes zeroes. All
 * columns are compressed as one: most are too short to be worth a table of
 * their own. What kinds and words mean is not known here.
 *
 *	columns: number of them, then of each its name and its size
 *		(unsigned LEB128, as all numbers are)
 *	the columns, in the order of their names, which ascend
 *
 *	PARTS	of each part: its bits * 2, + 1 if it is cut; its records
 *	KINDS	of each record its kind, a byte
 *	REST	words of records behind the first CHUNK_WORDS, 8 bytes each
 *	BITS	of each part, as many bytes as its bits need
 *	COUNTS	of each part, how many bytes of values of registers it has; left
 *		out if no part has any
 *	VALUES	these
 *	CHUNK_COLUMN(kind, field): of each record of that kind
 *		AT	bits since the last record of any kind, or the
 *			beginning of the part
 *		others	this value less that of the last record of the kind in
 *			the chunk, or 0: zigzag, the lowest bit is the sign
 *
 * A chunk can be read without any other one.
 *
 * A dense chunk (`tally trace pack`) has the same columns, and more of them:
 *
 *	BITS: its size; that of what follows; it, as dense_bits.h codes it
 *	VALUES: the same, as dense_values.h codes it
 *	all other columns, compressed as above
 */
#ifndef TRACE_FILE_CHUNK_H
#define TRACE_FILE_CHUNK_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/err.h"
#include "trace/file/dense_values.h"

enum {
	/* 64-bit words of a part and of all parts of a chunk, at most: in
	   fewer zstd would find less, and of more much would have to be read
	   before a place in them can be shown */
	TRACE_PART_WORDS = 1 << 13,
	TRACE_CHUNK_WORDS = 1 << 17, /* values included */
	TRACE_PART_VALUES = (TRACE_PART_WORDS + 8) * 8, /* bytes */
	TRACE_CHUNK_PARTS = 1 << 12, /* parts can be empty */
	/* columns of a chunk: with differences at their longest it is 1.4
	   times as large as its words */
	TRACE_CHUNK_BYTES = 2 << 20,
	/* the same of a dense chunk: what predicts bits has to learn */
	TRACE_DENSE_WORDS = 1 << 20,
	TRACE_DENSE_BYTES = 16 << 20,
	TRACE_RECORD_WORDS = 254,
	TRACE_BITS_PAST = 4, /* words of zeroes behind the bits of a part */
};

enum {
	CHUNK_PARTS,
	CHUNK_KINDS,
	CHUNK_REST,
	CHUNK_BITS,
	CHUNK_COUNTS,
	CHUNK_VALUES,
	CHUNK_FIXED, /* columns that are of no kind */
	CHUNK_KIND_0 = 16,
	CHUNK_WORDS = 8, /* that have a column of their own */
};

enum chunk_field {
	CHUNK_AT,
	CHUNK_NWORD, /* how many words the record has */
	CHUNK_NUMBER,
	CHUNK_WORD_0,
	CHUNK_FIELDS = CHUNK_WORD_0 + CHUNK_WORDS,
};

#define CHUNK_COLUMN(kind, field) (CHUNK_KIND_0 + (kind) * 16u + (field))
#define CHUNK_COLUMNS CHUNK_COLUMN(256, 0)

_Static_assert(CHUNK_FIELDS <= 16, "fields of a kind have 16 names");

/*
 * packer: makes chunks, one after the other; level: of compression, 0: the
 * usual one
 */
struct chunk_packer;
struct chunk_packer *chunk_packer_new(int level);
void chunk_packer_free(struct chunk_packer *p);
/*
 * Appends a chunk of n parts to *out: part i is the next size[i] of the words,
 * and nvalue[i] bytes of the values; NULL: there are none. Words may be wrong,
 * for a broken program can write there: a part is then cut before what cannot
 * be read.
 */
struct chunk_parts {
	const uint64_t *word;
	const uint32_t *size;
	const uint8_t *value;
	const uint32_t *nvalue;
	size_t n;
	bool hurried; /* there is no time to compress values */
};
void chunk_pack(struct chunk_packer *p, const struct chunk_parts *x,
		buffer *out);

/* how a chunk is packed */
enum chunk_form { CHUNK_PLAIN, CHUNK_DENSE };

struct trace_record {
	uint64_t at_bit; /* bits of the part that were before it */
	uint64_t number;
	const uint64_t *word;
	uint16_t nword;
	uint8_t kind;
};

struct trace_part {
	uint64_t sequence; /* in its thread, from 0 */
	/* the first one highest in bit[0]; TRACE_BITS_PAST words follow */
	const uint64_t *bit;
	uint64_t nbit;
	const struct trace_record *record;
	size_t nrecord;
	const uint8_t *value; /* of registers, nvalue bytes */
	size_t nvalue;
	bool cut; /* what the thread wrote behind that cannot be read */
};

/* {0} before it is used, and used again as it is; then trace_chunk_free() */
struct trace_chunk {
	VEC(struct trace_part) part;
	VEC(struct trace_record) record;
	VEC(uint64_t) bit;
	VEC(uint64_t) word;
	buffer packed, unpacked, dense[2];
};

/*
 * Parts that were read become a dense chunk: each is added, in order, to a
 * packer with a level of compression; false: there is no room for it, but in a
 * chunk of its own. chunk_put_dense() appends the chunk to *out; sites: of all
 * values of these parts, or NULL: they are not known; false: what is in it is
 * too large for one.
 */
bool chunk_add(struct chunk_packer *p, const struct trace_part *part);
bool chunk_put_dense(struct chunk_packer *p, const struct value_sites *sites,
		     buffer *out);

/* x->packed becomes parts, the first of which has the number `sequence` */
int chunk_unpack(struct trace_chunk *x, enum chunk_form form,
		 uint64_t sequence, const char *where, struct err *e);
void trace_chunk_free(struct trace_chunk *x);

#endif
