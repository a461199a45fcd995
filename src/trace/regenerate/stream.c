/* stream: see stream.h. */
#include "trace/regenerate/stream.h"

#include <endian.h>
#include <string.h>

#include "abi/trace.h"

/* the words of RING_PART */
enum { PART_TIME, PART_CPU, PART_EPOCH, PART_WORDS,
       PART_THREAD_BASE = PART_WORDS, PART_BLOCK };
enum { BLOCK_MOST = 4096 };

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

/* the record that a part begins with says when that was */
static void read_time(struct stream *s)
{
	const struct trace_part *p = s->part;

	if (p->nrecord && p->record[0].kind == RING_PART &&
	    p->record[0].nword > PART_TIME)
		s->time = p->record[0].word[PART_TIME];
}

/* the values of a part that begins wait until they are taken */
static void add_values(struct stream *s)
{
	size_t left = s->value.n - s->value_at;

	if (s->value_at > left) {
		memmove(s->value.at, s->value.at + s->value_at, left);
		s->value_first += s->value_at;
		s->value.n = left;
		s->value_at = 0;
	}
	s->part_value = s->value_first + s->value.n;
	buffer_bytes(&s->value, s->part->value, s->part->nvalue);
}

/* there are no more parts */
static void end_parts(struct stream *s)
{
	s->part = NULL;
	stream_set_stop(s);
}

/* the next part, if this one is done */
static bool next_part(struct stream *s)
{
	while (s->npart == s->chunk.part.n)
		if (s->broken || !next_chunk(s))
			return false;
	s->part = &s->chunk.part.at[s->npart++];
	s->at = s->nrecord = 0;
	add_values(s);
	stream_set_stop(s);
	read_time(s);
	return true;
}

void stream_begin_at(struct stream *s, const struct trace_file *f,
		     const struct trace_thread *t, size_t chunk)
{
	*s = (struct stream){.file = f, .thread = t, .nchunk = chunk};
	if (!next_part(s))
		end_parts(s);
}

void stream_begin(struct stream *s, const struct trace_file *f,
		  const struct trace_thread *t)
{
	stream_begin_at(s, f, t, 0);
}

void stream_end(struct stream *s)
{
	trace_chunk_free(&s->chunk);
	vec_free(&s->value);
	vec_free(&s->image);
	vec_free(&s->call);
	vec_free(&s->state.word);
	vec_free(&s->state.stack);
}

/* 0: it is no size of a block */
static uint64_t block_of(uint64_t size)
{
	return size <= BLOCK_MOST && !(size & (size - 1)) ? size : 0;
}

static void begin_part(struct stream *s, const struct trace_record *r)
{
	if (r->nword > PART_THREAD_BASE)
		s->thread_base = r->word[PART_THREAD_BASE];
	if (r->nword > PART_BLOCK)
		s->block = block_of(r->word[PART_BLOCK]);
	if (r->nword < PART_WORDS || r->word[PART_EPOCH] == s->epoch)
		return;
	s->epoch = r->word[PART_EPOCH];
	s->new_epoch = true;
}

/* its number says two things */
static const struct trace_record *read_number(struct stream *s,
					      const struct trace_record *r)
{
	s->record = *r;
	s->record.number &= (UINT64_C(1) << RING_NUMBER_BITS) - 1;
	s->record_values = s->part_value + (r->number >> RING_NUMBER_BITS);
	return &s->record;
}

/* one is about to be made */
static void add_call(struct stream *s, const struct trace_record *r)
{
	if (s->told == s->call.n)
		s->told = s->call.n = 0;
	if (r->nword >= RING_SYSCALL_WORDS)
		vec_push(&s->call, ((struct stream_call){
					   .at = r->word[0],
					   .number = (uint32_t)r->word[1],
					   .time = r->word[2],
					   .cpu = (uint32_t)r->word[3]}));
}

/* the last bits of the part that were read, at most 64 */
static void read_last_bits(struct stream *s, struct stream_state *x)
{
	uint64_t first;

	x->nbit = s->at < 64 ? (unsigned)s->at : 64;
	first = s->at - x->nbit;
	x->bits = 0;
	for (uint64_t i = first; i < s->at; i++)
		x->bits = x->bits << 1 | (s->part->bit[i / 64] >>
					  (63 - i % 64) & 1);
}

static void take_state(struct stream *s, const struct trace_record *r)
{
	struct stream_state *x = &s->state;

	s->nstate++;
	x->part = s->part->sequence;
	x->at = s->at;
	x->nrecord = s->nrecord;
	x->word.n = x->stack.n = 0;
	for (unsigned i = 0; i < r->nword; i++)
		vec_push(&x->word, r->word[i]);
	read_last_bits(s, x);
}

/* of the state before it; what does not follow is not known */
static void take_stack(struct stream *s, const struct trace_record *r)
{
	if (s->nstate && s->state.part == s->part->sequence &&
	    read_number(s, r)->number == s->state.stack.n)
		for (unsigned i = 0; i < r->nword; i++)
			vec_push(&s->state.stack, r->word[i]);
}

/* does it say what is no matter of where control is? That is kept */
static bool take_aside(struct stream *s, const struct trace_record *r)
{
	struct stream_image m;

	switch (r->kind) {
	case RING_PART:
		begin_part(s, r);
		return true;
	case RING_STATE:
		take_state(s, r);
		return true;
	case RING_STACK:
		take_stack(s, r);
		return true;
	case RING_SYSCALL:
		add_call(s, r);
		return true;
	}
	if (r->kind == RING_IMAGE && r->nword) {
		m.is = r->word[0];
		m.gone = read_number(s, r)->number == RING_IMAGE_GONE;
		vec_push(&s->image, m);
	}
	return r->kind == RING_IMAGE;
}

const struct trace_record *stream_find_record(struct stream *s)
{
	while (s->part) {
		const struct trace_record *r = &s->part->record[s->nrecord];

		if (s->nrecord == s->part->nrecord) {
			if (s->at < s->part->nbit)
				return NULL;
			if (!next_part(s))
				end_parts(s);
		} else if (r->at_bit > s->at) {
			return NULL;
		} else if (!take_aside(s, r)) {
			return read_number(s, r);
		} else {
			s->state.nrecord += stream_behind_state(s);
			stream_pass(s);
		}
	}
	return NULL;
}

bool stream_read(struct stream *s, unsigned n, uint32_t *value)
{
	unsigned left;

	*value = 0;
	while (n) {
		uint32_t more = stream_peek(s, n, &left);

		if (!left)
			return false;
		*value = (uint32_t)((uint64_t)*value << left) |
			 more >> (n - left);
		stream_skip(s, left);
		n -= left;
	}
	return true;
}

/* a part begins that may have some; false: none does here */
static bool next_values(struct stream *s)
{
	uint64_t part;

	if (!s->part)
		return false;
	part = s->part->sequence;
	stream_record(s);
	return s->part && s->part->sequence != part;
}

bool stream_find_value(struct stream *s, unsigned size, uint64_t *value)
{
	*value = 0;
	while (s->value.n - s->value_at < size)
		if (!next_values(s))
			return false;
	memcpy(value, s->value.at + s->value_at, size);
	*value = le64toh(*value);
	s->value_at += size;
	return true;
}

void stream_seek_value(struct stream *s, uint64_t number)
{
	if (number >= s->value_first &&
	    number - s->value_first <= s->value.n)
		s->value_at = (size_t)(number - s->value_first);
}
