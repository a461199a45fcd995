/*
 * stream: what a thread wrote, from part to part: bits, and records in between
 * (abi/trace.h).
 */
#ifndef TRACE_REGENERATE_STREAM_H
#define TRACE_REGENERATE_STREAM_H

#include "trace/file/trace_file.h"

struct stream {
	const struct trace_file *file;
	const struct trace_thread *thread;
	struct trace_chunk chunk;
	size_t nchunk;	/* chunks that were read */
	size_t npart;	/* parts of the chunk that were begun */
	const struct trace_part *part; /* or NULL: there are no more */
	uint64_t at;	/* bits of it that were read */
	size_t nrecord; /* and records */
	bool new_epoch; /* one has begun since this was last cleared */
	uint64_t epoch;
	bool broken; /* a chunk cannot be read: *e says why */
	struct err e;
};

void stream_begin(struct stream *s, const struct trace_file *f,
		  const struct trace_thread *t);
void stream_end(struct stream *s);

/* the record that comes before the next bit, or NULL */
const struct trace_record *stream_record(struct stream *s);
/* it was read */
static inline void stream_pass(struct stream *s)
{
	s->nrecord++;
}

/* is there nothing left to read? */
bool stream_is_dry(struct stream *s);
/* the next n bits, at most 32, or what is left of them with zeroes behind;
   *left: how many there were */
uint32_t stream_peek(struct stream *s, unsigned n, unsigned *left);
/* n bits that were peeked at are read */
void stream_skip(struct stream *s, unsigned n);
/* the next n bits, at most 32, which may go over the end of a part; false:
   there are not so many before a record, or at all */
bool stream_read(struct stream *s, unsigned n, uint32_t *value);

#endif
