/* stream: see stream.h. */
#include "trace/regenerate/stream.h"

#include "abi/trace.h"

/* the words of RING_PART */
enum { PART_TIME, PART_CPU, PART_EPOCH, PART_WORDS };

static bool next_chunk(struct stream *s)
{
	if (s->nchunk == s->thread->nchunk)
		return false;
	if (trace_chunk_read(s->file, s->thread, s->nchunk++, &s->chunk,
			     &s->e)) {
		s->broken = true;
		return false;
	}
	s->npart = 0;
	return true;
}

/* the next part, if this one is done */
static bool next_part(struct stream *s)
{
	while (s->npart == s->chunk.part.n)
		if (s->broken || !next_chunk(s))
			return false;
	s->part = &s->chunk.part.at[s->npart++];
	s->at = s->nrecord = 0;
	return true;
}

void stream_begin(struct stream *s, const struct trace_file *f,
		  const struct trace_thread *t)
{
	*s = (struct stream){.file = f, .thread = t};
	if (!next_part(s))
		s->part = NULL;
}

void stream_end(struct stream *s)
{
	trace_chunk_free(&s->chunk);
}

static void begin_part(struct stream *s, const struct trace_record *r)
{
	if (r->nword < PART_WORDS || r->word[PART_EPOCH] == s->epoch)
		return;
	s->epoch = r->word[PART_EPOCH];
	s->new_epoch = true;
}

const struct trace_record *stream_record(struct stream *s)
{
	while (s->part) {
		const struct trace_record *r = &s->part->record[s->nrecord];

		if (s->nrecord == s->part->nrecord) {
			if (s->at < s->part->nbit)
				return NULL;
			if (!next_part(s))
				s->part = NULL;
		} else if (r->at_bit > s->at) {
			return NULL;
		} else if (r->kind != RING_PART) {
			return r;
		} else {
			begin_part(s, r);
			s->nrecord++;
		}
	}
	return NULL;
}

bool stream_is_dry(struct stream *s)
{
	return !stream_record(s) && !s->part;
}

/* up to the next record, or the end of the part */
static uint64_t bits_left(const struct stream *s)
{
	uint64_t end = s->nrecord < s->part->nrecord ?
			       s->part->record[s->nrecord].at_bit :
			       s->part->nbit;

	return end - s->at;
}

uint32_t stream_peek(struct stream *s, unsigned n, unsigned *left)
{
	uint64_t there, value;
	const uint64_t *w;
	unsigned at;

	*left = 0;
	if (stream_record(s) || !s->part)
		return 0;
	there = bits_left(s);
	*left = there < n ? (unsigned)there : n;
	w = &s->part->bit[s->at / 64];
	at = s->at % 64;
	value = at ? w[0] << at | w[1] >> (64 - at) : w[0];
	return n ? (uint32_t)(value >> (64 - n)) &
			   ~(uint32_t)((UINT64_C(1) << (n - *left)) - 1) :
		   0;
}

void stream_skip(struct stream *s, unsigned n)
{
	s->at += n;
}

bool stream_read(struct stream *s, unsigned n, uint32_t *value)
{
	unsigned left;

	*value = 0;
	while (n) {
		uint32_t more = stream_peek(s, n, &left);

		if (!left)
			return false;
		*value = *value << left | more >> (n - left);
		stream_skip(s, left);
		n -= left;
	}
	return true;
}
