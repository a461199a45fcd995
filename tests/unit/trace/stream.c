/*
 * trace/stream: bits and records of a thread come as it wrote them, however
 * many bits are asked for at once, over the ends of parts and of chunks; and
 * never over a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "abi/trace.h"
#include "trace/regenerate/stream.h"
#include "trace_files.h"

enum { SEEDS = 30, PARTS = 400, WIDEST = 32 };

/* what there is, bit by bit, and records: their kind above a bit's values */
typedef VEC(uint32_t) items;

enum { RECORD = 2 };

static void add_part(items *v, const struct trace_part *p)
{
	size_t r = 0;

	for (uint64_t i = 0; i <= p->nbit; i++) {
		for (; r < p->nrecord && p->record[r].at_bit == i; r++)
			if (p->record[r].kind != RING_PART &&
			    p->record[r].kind != RING_IMAGE &&
			    p->record[r].kind != RING_SYSCALL &&
			    p->record[r].kind != RING_STATE &&
			    p->record[r].kind != RING_STACK)
				vec_push(v, RECORD + p->record[r].kind);
		if (i < p->nbit)
			vec_push(v, p->bit[i / 64] >> (63 - i % 64) & 1);
	}
}

static void expect(items *v, const struct trace_file *f,
		   const struct trace_thread *t)
{
	struct trace_chunk x = {0};
	struct err e;

	for (size_t i = 0; i < t->nchunk; i++) {
		assert_int_equal(trace_chunk_read(f, t, i, &x, &e), 0);
		for (size_t j = 0; j < x.part.n; j++)
			add_part(v, &x.part.at[j]);
	}
	trace_chunk_free(&x);
}

/* up to n bits, which are there at once, or one after the other */
static void take_bits(struct stream *s, const items *v, size_t *at, unsigned n,
		      bool peek)
{
	uint32_t value;
	unsigned left = n;

	if (peek) {
		value = stream_peek(s, n, &left);
		assert_in_range(left, 1, n);
		value >>= n - left;
		stream_skip(s, left);
	} else {
		while (left && *at + left > v->n)
			left--;
		for (unsigned i = left; i-- > 0;)
			if (v->at[*at + i] >= RECORD)
				left = i;
		assert_true(stream_read(s, left, &value));
	}
	for (unsigned i = left; i-- > 0;)
		assert_int_equal(value >> i & 1, v->at[(*at)++]);
}

static void check_thread(const struct trace_file *f,
			 const struct trace_thread *t, uint64_t seed)
{
	const struct trace_record *r;
	struct stream s;
	items v = {0};
	size_t at = 0;

	expect(&v, f, t);
	stream_begin(&s, f, t);
	while (at < v.n) {
		r = stream_record(&s);
		assert_int_equal(!!r, v.at[at] >= RECORD);
		if (r) {
			assert_int_equal(r->kind, v.at[at++] - RECORD);
			stream_pass(&s);
			continue;
		}
		take_bits(&s, &v, &at, 1 + (unsigned)part_below(&seed, WIDEST),
			  part_below(&seed, 2));
	}
	assert_true(stream_is_dry(&s));
	assert_null(stream_record(&s));
	stream_end(&s);
	vec_free(&v);
}

static void test_streams(void **state)
{
	const struct trace_writer_options plain = {0};

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const char *path = trace_path("stream");
		struct trace_file f;
		struct err e;
		struct trace_writer *w = trace_writer_open(path, &plain, &e);

		assert_non_null(w);
		assert_int_equal(trace_writer_process(w, 1, 1, 0, "x", &e), 0);
		assert_int_equal(trace_writer_thread(w, 1, (uint32_t)seed, 1, &e), 0);
		for (uint64_t i = 0; i < PARTS; i++)
			assert_int_equal(put_part(w, 1, (uint32_t)seed, i, &e),
					 0);
		assert_int_equal(trace_writer_close(w, &e), 0);
		assert_int_equal(trace_open(&f, path, &e), 0);
		for (size_t i = 0; i < f.thread.n; i++)
			check_thread(&f, &f.thread.at[i], seed);
		trace_close(&f);
		trace_remove(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
