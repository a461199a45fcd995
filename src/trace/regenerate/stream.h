/*
 * stream: what a thread wrote, from part to part: bits, and records in between
 * (abi/trace.h).
 */
#ifndef TRACE_REGENERATE_STREAM_H
#define TRACE_REGENERATE_STREAM_H

#include <endian.h>
#include <string.h>

#include "trace/file/trace_file.h"

/* images were loaded, up to a time; or the one with that base is gone */
struct stream_image {
	uint64_t is;
	bool gone;
};

/* a system call that is about to be made */
struct stream_call {
	uint64_t at; /* where, as it ran */
	uint32_t number;
	uint32_t cpu;
	uint64_t time; /* as in RING_PART */
};

/* where the thread was when an epoch began (RING_STATE) */
struct stream_state {
	/* of which part, and behind how many bits and records of it */
	uint64_t part, at, nrecord;
	uint64_t bits; /* of the stream, the last ones before, nbit of them */
	unsigned nbit;
	VEC(uint64_t) word; /* of the record */
	VEC(uint64_t) stack; /* from the stack pointer on, as far as is known */
};

struct stream {
	const struct trace_file *file;
	const struct trace_thread *thread;
	struct trace_chunk chunk;
	size_t nchunk;	/* chunks that were read */
	size_t npart;	/* parts of the chunk that were begun */
	const struct trace_part *part; /* or NULL: there are no more */
	uint64_t at;	/* bits of it that were read */
	size_t nrecord; /* and records */
	uint64_t stop;	/* where the next record is, or the part ends: bits */
	uint64_t time;	/* when the part began, as its thread saw it */
	struct trace_record record; /* the one that is next */
	/*
	 * Values of registers, of parts that the stream has come to and that
	 * were not taken: bytes, numbered from 0 in each thread. value.at[0]
	 * has the number value_first. Those of the part that is read begin with
	 * part_value, and before the record there were record_values.
	 */
	buffer value;
	size_t value_at; /* the next one */
	uint64_t value_first, part_value, record_values;
	uint64_t thread_base; /* what its variables are found by, or 0 */
	uint64_t block; /* bytes of what ACCESS_BLOCK accesses, or 0 */
	/* what the thread said of images since this was last cleared */
	VEC(struct stream_image) image;
	/* system calls that it has come to and that were not told yet: `told`
	   of these were */
	VEC(struct stream_call) call;
	size_t told;
	/* the last one that was passed, and how many were */
	struct stream_state state;
	uint64_t nstate;
	bool new_epoch; /* one has begun since this was last cleared */
	uint64_t epoch;
	bool broken; /* a chunk cannot be read: *e says why */
	struct err e;
};

void stream_begin(struct stream *s, const struct trace_file *f,
		  const struct trace_thread *t);
/* with that chunk of the thread */
void stream_begin_at(struct stream *s, const struct trace_file *f,
		     const struct trace_thread *t, size_t chunk);
void stream_end(struct stream *s);

/* are there bits before the next record, in this part? */
static inline bool stream_has_bits(const struct stream *s)
{
	return s->at < s->stop;
}

/* the next value of a register, of 1 to 8 bytes; false: there is none before
   the next bits. It may be that of the next part */
bool stream_find_value(struct stream *s, unsigned size, uint64_t *value);
static inline bool stream_value(struct stream *s, unsigned size,
				uint64_t *value)
{
	uint64_t x;

	if (s->value.n - s->value_at < sizeof x)
		return stream_find_value(s, size, value);
	memcpy(&x, s->value.at + s->value_at, sizeof x);
	*value = le64toh(x) & UINT64_MAX >> (64 - 8 * size);
	s->value_at += size;
	return true;
}
/* goes on with the byte of that number, of those that were come to */
void stream_seek_value(struct stream *s, uint64_t number);
static inline uint64_t stream_value_number(const struct stream *s)
{
	return s->value_first + s->value_at;
}

/* stream_record() where there are no bits */
const struct trace_record *stream_find_record(struct stream *s);
/* the record that comes before the next bit, or NULL */
static inline const struct trace_record *stream_record(struct stream *s)
{
	return stream_has_bits(s) ? NULL : stream_find_record(s);
}

/* was a state passed, and nothing read since? */
static inline bool stream_behind_state(const struct stream *s)
{
	const struct stream_state *x = &s->state;

	return s->nstate && s->part && x->part == s->part->sequence &&
	       x->at == s->at && x->nrecord == s->nrecord;
}

/* where bits end that can be read */
static inline void stream_set_stop(struct stream *s)
{
	const struct trace_part *p = s->part;

	s->stop = !p			 ? 0 :
		  s->nrecord < p->nrecord ? p->record[s->nrecord].at_bit :
					    p->nbit;
}

/* it was read */
static inline void stream_pass(struct stream *s)
{
	s->nrecord++;
	stream_set_stop(s);
}

/* is there nothing left to read? */
static inline bool stream_is_dry(struct stream *s)
{
	return !stream_record(s) && !s->part;
}

/* the next n bits, 1 to 32; requires: so many are left before the next record
   or the end of the part */
static inline uint32_t stream_sure(const struct stream *s, unsigned n)
{
	const uint64_t *w = &s->part->bit[s->at / 64];
	unsigned at = s->at % 64;
	uint64_t value = w[0] << at | w[1] >> 1 >> (63 - at);

	return (uint32_t)(value >> (64 - n));
}

/* the next n bits, 1 to 32, or what is left of them with zeroes behind;
   *left: how many there were */
static inline uint32_t stream_peek(struct stream *s, unsigned n,
				   unsigned *left)
{
	*left = 0;
	if (stream_record(s) || !s->part)
		return 0;
	*left = s->stop - s->at < n ? (unsigned)(s->stop - s->at) : n;
	return stream_sure(s, n) &
	       ~(uint32_t)((UINT64_C(1) << (n - *left)) - 1);
}

/* n bits that were peeked at are read */
static inline void stream_skip(struct stream *s, unsigned n)
{
	s->at += n;
}

/* the next n bits, at most 32, which may go over the end of a part; false:
   there are not so many before a record, or at all */
bool stream_read(struct stream *s, unsigned n, uint32_t *value);

#endif
