/*
 * trace/ends: traces that end before their programs do, by a limit or a full
 * disk, and traces that keep only their end, in a ring that goes round many
 * times and is killed at any moment. What is there is always right, it is said
 * what is not, and no file grows beyond what it may have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "trace/file/output.h"
#include "trace_files.h"

enum { THREADS = 6, ROUNDS = 12000, MOST_THREADS = 30000 };

/* a run, of one process, that is being written */
struct run {
	struct trace_writer *w;
	uint64_t seed, next[THREADS];
	unsigned told; /* how often a call said that the trace has ended */
	struct err why;
};

static void run_begin(struct run *r, const char *path, uint64_t seed,
		      uint64_t limit, uint64_t last)
{
	const struct trace_writer_options o = {.limit = limit, .last = last};

	*r = (struct run){.seed = seed};
	r->w = trace_writer_open(path, &o, &r->why);
	assert_non_null(r->w);
	r->told += trace_writer_note(r->w, "k", "v", &r->why) != 0;
	r->told += trace_writer_process(r->w, 1, 1, 0, "p", &r->why) != 0;
	for (uint32_t t = 0; t < THREADS; t++)
		r->told += trace_writer_thread(r->w, 1, t, 100 + t,
					       &r->why) != 0;
}

/* some parts of threads, of which the first ones write much more */
static void run_go_on(struct run *r, unsigned parts)
{
	while (parts--) {
		uint32_t most = 1 + (uint32_t)part_below(&r->seed, THREADS);
		uint32_t t = (uint32_t)part_below(&r->seed, most);

		r->told += put_part(r->w, 1, t, r->next[t]++, &r->why) != 0;
	}
}

static void run_end(struct run *r)
{
	for (uint32_t t = 0; t < THREADS / 2; t++)
		r->told += trace_writer_end(r->w, 1, t, TRACE_ENDED_COMPLETE,
					    &r->why) != 0;
	r->told += trace_writer_close(r->w, &r->why) != 0;
}

static uint64_t size_of(const char *path)
{
	struct stat s;

	assert_int_equal(stat(path, &s), 0);
	return (uint64_t)s.st_size;
}

/* bytes of chunks that threads have */
static uint64_t bytes_in(const struct trace_file *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->thread.n; i++)
		for (size_t j = 0; j < f->thread.at[i].nchunk; j++)
			n += f->thread.at[i].chunk[j].block.size;
	return n;
}

/* within the limit, each thread has its beginning, and says why not all */
static void check_cut(const char *path, const struct run *r,
		      enum trace_ended how)
{
	struct trace_file f;
	struct err e;

	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_null(f.truncated);
	assert_true(trace_is_right(&f));
	for (size_t i = 0; i < f.thread.n; i++) {
		const struct trace_thread *t = &f.thread.at[i];

		assert_int_equal(t->first, 0);
		assert_int_equal(t->parts, r->next[t->thread]);
		assert_int_equal(t->ended,
				 t->end < t->parts ? how :
				 t->thread < THREADS / 2 ?
				 TRACE_ENDED_COMPLETE : TRACE_ENDED_UNKNOWN);
	}
	trace_close(&f);
}

static void test_limit(void **state)
{
	static const uint64_t limits[] = {4096, 5000, 10001, 65536, 200000,
					  1 << 20, 3 << 20};
	struct run r;

	(void)state;
	for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
		const char *path = trace_path("limit");

		run_begin(&r, path, i, limits[i], 0);
		run_go_on(&r, ROUNDS / 3);
		assert_int_equal(trace_writer_stopped(r.w),
				 TRACE_ENDED_LIMIT);
		run_end(&r);
		assert_int_equal(r.told, 1);
		assert_non_null(strstr(r.why.text, "the trace has the "));
		assert_true(size_of(path) <= limits[i]);
		if (limits[i] >= 1 << 20)
			assert_true(size_of(path) > limits[i] / 8 * 7);
		check_cut(path, &r, TRACE_ENDED_LIMIT);
		trace_remove(path);
	}
}

/* a trace that has less than it may is whole */
static void test_limit_not_reached(void **state)
{
	const char *path = trace_path("enough");
	struct run r;

	(void)state;
	run_begin(&r, path, 3, 64 << 20, 0);
	run_go_on(&r, 300);
	run_end(&r);
	assert_int_equal(r.told, 0);
	check_cut(path, &r, TRACE_ENDED_UNKNOWN);
	trace_remove(path);
}

/* the beginning of many threads is refused, too, if there is no room */
static void test_limit_threads(void **state)
{
	const char *path = trace_path("many");
	struct trace_file f;
	struct run r;
	struct err e;

	(void)state;
	run_begin(&r, path, 3, 100000, 0);
	for (uint32_t t = 0; t < MOST_THREADS; t++) {
		r.told += trace_writer_thread(r.w, 2, t, t, &e) != 0;
		r.told += put_part(r.w, 2, t, 0, &e) != 0;
		if (t % 3)
			r.told += trace_writer_end(r.w, 2, t,
						   TRACE_ENDED_COMPLETE,
						   &e) != 0;
	}
	run_end(&r);
	assert_int_equal(r.told, 1);
	assert_true(size_of(path) <= 100000);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_null(f.truncated);
	assert_true(trace_is_right(&f));
	assert_true(f.thread.n > 20);
	trace_close(&f);
	trace_remove(path);
}

/* files may have so many bytes; 0: as many as they need */
static void allow(uint64_t size)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = size ? size : r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* the end is in the file as well: a chunk was taken back for it */
static void test_full(void **state)
{
	struct run r;

	(void)state;
	for (uint64_t size = 4000; size < 2 << 20; size += size / 3) {
		const char *path = trace_path("full");

		allow(size);
		run_begin(&r, path, size, 0, 0);
		run_go_on(&r, ROUNDS / 3);
		run_end(&r);
		allow(0);
		assert_int_equal(r.told, 1);
		assert_non_null(strstr(r.why.text, "cannot write it, and the "
				       "trace ends there: File too large"));
		assert_true(size_of(path) <= size);
		check_cut(path, &r, TRACE_ENDED_FULL);
		trace_remove(path);
	}
}

/* before there is anything; and places that are no files */
static void test_refused(void **state)
{
	const struct trace_writer_options o = {0}, few = {.limit = 100},
		both = {.limit = 100000, .last = 1000000};
	const char *path = trace_path("refused");
	struct err e;

	(void)state;
	allow(10);
	assert_null(trace_writer_open(path, &o, &e));
	assert_non_null(strstr(e.text, "cannot write it: File too large"));
	allow(0);
	assert_null(trace_writer_open("/dev/full", &o, &e));
	assert_non_null(strstr(e.text, "/dev/full: is no regular file"));
	assert_null(trace_writer_open("/", &o, &e));
	assert_null(trace_writer_open("/nonexistent/x", &o, &e));
	assert_null(trace_writer_open(path, &few, &e));
	assert_non_null(strstr(e.text, "a trace of 100 bytes can hold "));
	assert_null(trace_writer_open(path, &both, &e));
	assert_int_equal(e.code, ERR_USAGE);
	trace_remove(path);
}

/* what a killed writer left; how much of it threads have */
static uint64_t check_killed(const char *path)
{
	struct trace_file f;
	uint64_t n;
	struct err e;

	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_non_null(f.truncated);
	assert_true(f.last);
	assert_true(trace_is_right(&f));
	n = bytes_in(&f);
	trace_close(&f);
	return n;
}

/* all that was flushed last is there: nothing is newer */
static void check_flushed(const char *path, const struct run *r)
{
	struct trace_file f;
	struct err e;

	assert_int_equal(trace_open(&f, path, &e), 0);
	for (size_t i = 0; i < f.thread.n; i++)
		if (f.thread.at[i].nchunk)
			assert_int_equal(f.thread.at[i].end,
					 r->next[f.thread.at[i].thread]);
	trace_close(&f);
}

/* a file of two states: what was written to it came as far as `cut` */
static void put_torn(const char *path, const char *from, const char *to,
		     uint64_t *seed)
{
	size_t na, nb, first = 0, end;
	uint8_t *a = bytes_of(from, &na), *b = bytes_of(to, &nb);

	end = na < nb ? na : nb;
	while (first < end && a[first] == b[first])
		first++;
	while (end > first && a[end - 1] == b[end - 1])
		end--;
	first += part_below(seed, end - first + 1);
	memcpy(a, b, first < na ? first : na);
	put_bytes(path, a, na);
	mem_free(a);
	mem_free(b);
}

static void copy_file(const char *to, const char *from)
{
	size_t n;
	uint8_t *all = bytes_of(from, &n);

	put_bytes(to, all, n);
	mem_free(all);
}

static void test_last(void **state)
{
	static const uint64_t lasts[] = {1, 300000, 1 << 20};
	struct run r;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		char path[40], old[40], torn[40];
		uint64_t ring = i ? lasts[i] : TRACE_LAST_LEAST, n = 0;
		struct trace_file f;

		strcpy(path, trace_path("last"));
		strcpy(old, trace_path("old"));
		strcpy(torn, trace_path("torn"));
		run_begin(&r, path, i, 0, lasts[i]);
		for (unsigned k = 0; k < 60; k++) {
			run_go_on(&r, ROUNDS / 60);
			copy_file(old, path);
			trace_writer_flush(r.w, &r.why);
			n = check_killed(path);
			check_flushed(path, &r);
			put_torn(torn, old, path, &r.seed);
			check_killed(torn);
			assert_true(size_of(path) < ring + 2000);
		}
		assert_true(n > ring / 2);
		run_end(&r);
		assert_int_equal(r.told, 0);
		assert_int_equal(trace_open(&f, path, &r.why), 0);
		assert_null(f.truncated);
		assert_true(f.last && trace_is_right(&f));
		assert_true(bytes_in(&f) > ring / 2);
		assert_int_equal(f.thread.n, THREADS);
		for (uint32_t t = 0; t < THREADS; t++) {
			assert_int_equal(f.thread.at[t].tid, 100 + t);
			assert_int_equal(f.thread.at[t].end, r.next[t]);
			assert_int_equal(f.thread.at[t].ended, t < THREADS / 2 ?
					 TRACE_ENDED_COMPLETE :
					 TRACE_ENDED_UNKNOWN);
		}
		assert_true(f.thread.at[0].first > 0);
		trace_close(&f);
		trace_remove(path);
		trace_remove(old);
		trace_remove(torn);
	}
}

/* threads come and go for ever: neither file nor list of them grows */
static void test_last_threads(void **state)
{
	const char *path = trace_path("threads");
	struct trace_file f;
	struct run r;
	struct err e;

	(void)state;
	run_begin(&r, path, 1, 0, 400000);
	for (uint32_t t = 0; t < MOST_THREADS; t++) {
		trace_writer_thread(r.w, 2, t, t, &e);
		for (uint64_t p = 0; p < t % 3; p++)
			assert_int_equal(put_part(r.w, 2, t, p, &e), 0);
		trace_writer_end(r.w, 2, t, TRACE_ENDED_COMPLETE, &e);
		if (t == MOST_THREADS / 2) {
			trace_writer_flush(r.w, &e);
			check_killed(path);
		}
	}
	run_end(&r);
	assert_true(size_of(path) < 2 * 400000);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_true(trace_is_right(&f));
	assert_true(f.thread.n > 100 && f.thread.n < MOST_THREADS / 4);
	assert_int_equal(f.thread.at[f.thread.n - 1].thread, MOST_THREADS - 1);
	trace_close(&f);
	trace_remove(path);
}

/* of a trace that keeps all, all of them are there */
static void test_threads(void **state)
{
	const char *path = trace_path("threads");
	struct trace_file f;
	struct run r;
	struct err e;

	(void)state;
	run_begin(&r, path, 1, 0, 0);
	for (uint32_t t = 0; t < MOST_THREADS; t++) {
		trace_writer_thread(r.w, 2, t, t, &e);
		for (uint64_t p = 0; p < t % 3; p++)
			assert_int_equal(put_part(r.w, 2, t, p, &e), 0);
		trace_writer_end(r.w, 2, t, TRACE_ENDED_COMPLETE, &e);
	}
	run_end(&r);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_int_equal(f.thread.n, THREADS + MOST_THREADS);
	assert_true(trace_is_right(&f));
	for (uint32_t t = 0; t < MOST_THREADS; t++) {
		assert_int_equal(f.thread.at[THREADS + t].end, t % 3);
		assert_int_equal(f.thread.at[THREADS + t].ended,
				 TRACE_ENDED_COMPLETE);
	}
	trace_close(&f);
	trace_remove(path);
}

/* with a limit, the ring is smaller than that; images end the trace */
static void test_last_limit(void **state)
{
	const char *path = trace_path("both");
	struct trace_file f;
	struct run r;
	struct err e;

	(void)state;
	run_begin(&r, path, 1, 400000, 400000);
	run_go_on(&r, ROUNDS / 4);
	assert_int_equal(r.told, 0);
	for (uint32_t i = 0; i < 1000; i++)
		r.told += put_image(r.w, i, &e) != 0;
	assert_int_equal(r.told, 1);
	run_go_on(&r, ROUNDS / 4);
	run_end(&r);
	assert_true(size_of(path) <= 400000);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_null(f.truncated);
	assert_true(trace_is_right(&f));
	assert_true(f.image.n > 10);
	assert_int_equal(f.thread.at[0].ended, TRACE_ENDED_LIMIT);
	trace_close(&f);
	trace_remove(path);
}

/* the disk is full before the ring has been round once */
static void test_last_full(void **state)
{
	const char *path = trace_path("last-full");
	struct trace_file f;
	struct run r;
	struct err e;

	(void)state;
	run_begin(&r, path, 1, 0, 1 << 20);
	allow(300000);
	run_go_on(&r, ROUNDS);
	run_end(&r);
	allow(0);
	/* once more: there is no room for its end, either */
	assert_int_equal(r.told, 2);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_non_null(f.truncated);
	assert_true(trace_is_right(&f));
	assert_true(bytes_in(&f) > 100000);
	trace_close(&f);
	trace_remove(path);
}

/* what waits to be a chunk is bounded, however many threads there are */
static void test_memory(void **state)
{
	const char *path = trace_path("memory");
	const struct trace_writer_options o = {0};
	static uint64_t word[TRACE_PART_WORDS];
	struct rusage before, after;
	struct trace_writer *w;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < TRACE_PART_WORDS; i++)
		word[i] = UINT64_MAX;
	w = trace_writer_open(path, &o, &e);
	getrusage(RUSAGE_SELF, &before);
	for (uint32_t t = 0; t < 4000; t++)
		trace_writer_part(w, 1, t % 2000, word, TRACE_PART_WORDS, &e);
	getrusage(RUSAGE_SELF, &after);
	/* kilobytes; sanitizers keep what was freed */
#ifndef __SANITIZE_ADDRESS__
	assert_true(after.ru_maxrss - before.ru_maxrss < 120 << 10);
#endif
	assert_int_equal(trace_writer_close(w, &e), 0);
	trace_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_not_reached),
		cmocka_unit_test(test_limit_threads),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_last_threads),
		cmocka_unit_test(test_last_limit),
		cmocka_unit_test(test_last_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
