/*
 * trace/file: traces of many threads come back whole, read by several threads
 * at once; when the writer is killed or the file is cut, at any byte, all that
 * was whole before that; and files that are no traces are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "base/parallel.h"
#include "mutate.h"
#include "trace_files.h"

enum { PROCESSES = 3, THREADS = 5, PARTS = 900, IMAGES = 6, MUTANTS = 20000 };

static const struct trace_writer_options plain;

/* parts of threads in any order; `kill`: it ends there, without a close */
static void write_trace(const char *path, uint64_t seed, unsigned parts,
			bool kill)
{
	uint64_t next[PROCESSES + 1][THREADS] = {{0}};
	struct err e;
	struct trace_writer *w = trace_writer_open(path, &plain, &e);

	assert_non_null(w);
	assert_int_equal(trace_writer_note(w, "command", "a 'b c'", &e), 0);
	for (uint32_t p = 1; p <= PROCESSES; p++) {
		assert_int_equal(trace_writer_process(w, p, 100 + p, p - 1,
						      "x", &e), 0);
		for (uint32_t t = 0; t < THREADS; t++)
			assert_int_equal(trace_writer_thread(w, p, t,
							     1000 * p + t,
							     &e), 0);
	}
	for (unsigned i = 0; i < parts; i++) {
		uint32_t p = 1 + (uint32_t)part_below(&seed, PROCESSES);
		uint32_t t = (uint32_t)part_below(&seed, THREADS);

		assert_int_equal(put_part(w, p, t, next[p][t]++, &e), 0);
		if (part_below(&seed, 100) == 0)
			assert_int_equal(trace_writer_flush(w, &e), 0);
		put_image(w, (uint32_t)part_below(&seed, IMAGES), &e);
	}
	assert_int_equal(trace_writer_process(w, 2, 102, 1, "renamed", &e), 0);
	for (uint32_t t = 0; t < THREADS; t++)
		assert_int_equal(trace_writer_end(w, 1, t, t % 2 ?
						  TRACE_ENDED_KILLED :
						  TRACE_ENDED_COMPLETE, &e),
				 0);
	if (!kill)
		assert_int_equal(trace_writer_close(w, &e), 0);
	else
		_exit(0);
}

static uint64_t parts_in(const struct trace_file *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->thread.n; i++)
		n += f->thread.at[i].end - f->thread.at[i].first;
	return n;
}

static void check_names(const struct trace_file *f)
{
	assert_string_equal(trace_note(f, "command"), "a 'b c'");
	assert_null(trace_note(f, "comman"));
	assert_int_equal(f->process.n, PROCESSES);
	for (uint32_t p = 1; p <= PROCESSES; p++) {
		const struct trace_process *q = trace_process(f, p);

		assert_int_equal(q->pid, 100 + p);
		assert_int_equal(q->parent, p - 1);
		assert_string_equal(q->name, p == 2 ? "renamed" : "x");
	}
	assert_null(trace_process(f, PROCESSES + 1));
	assert_int_equal(f->thread.n, PROCESSES * THREADS);
	for (uint32_t i = 0; i < f->thread.n; i++) {
		const struct trace_thread *t = &f->thread.at[i];

		assert_int_equal(t->process, 1 + i / THREADS);
		assert_int_equal(t->thread, i % THREADS);
		assert_int_equal(t->tid, 1000 * t->process + t->thread);
		assert_int_equal(t->ended,
				 t->process > 1 ? TRACE_ENDED_UNKNOWN :
				 t->thread % 2 ? TRACE_ENDED_KILLED :
						 TRACE_ENDED_COMPLETE);
		assert_int_equal(t->first, 0);
		assert_int_equal(t->end, t->parts);
	}
}

static void test_whole(void **state)
{
	const char *path = trace_path("whole");
	struct trace_file f;
	struct err e;

	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		write_trace(path, seed, PARTS, false);
		assert_int_equal(trace_open(&f, path, &e), 0);
		assert_null(f.truncated);
		assert_false(f.last);
		check_names(&f);
		assert_int_equal(f.image.n, IMAGES);
		assert_true(trace_is_right(&f));
		assert_int_equal(parts_in(&f), PARTS);
		trace_close(&f);
	}
	trace_remove(path);
}

struct share {
	const struct trace_file *f;
	bool good;
};

static void *read_share(void *arg)
{
	struct share *s = arg;

	s->good = trace_is_right(s->f);
	return NULL;
}

static void test_parallel(void **state)
{
	const char *path = trace_path("parallel");
	struct share share[8];
	struct trace_file f;
	struct err e;

	(void)state;
	write_trace(path, 5, PARTS, false);
	assert_int_equal(trace_open(&f, path, &e), 0);
	for (unsigned i = 0; i < 8; i++)
		share[i].f = &f;
	parallel_run(read_share, share, sizeof *share, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_true(share[i].good);
	trace_close(&f);
	trace_remove(path);
}

/* the writer vanishes before the end: what it had written is there */
static void test_killed(void **state)
{
	const char *path = trace_path("killed");
	struct trace_file f;
	struct err e;

	(void)state;
	if (!fork())
		write_trace(path, 6, PARTS, true);
	wait(NULL);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_non_null(strstr(f.truncated, "no end: its writer was killed"));
	check_names(&f);
	assert_true(trace_is_right(&f));
	/* of the first process all was flushed when its threads ended */
	assert_true(parts_in(&f) > PARTS / 3);
	trace_close(&f);
	trace_remove(path);
}

/* a trace of few small parts, with images and a hole of nothing */
static uint8_t *small_trace(const char *path, size_t *n)
{
	struct err e;
	struct trace_writer *w = trace_writer_open(path, &plain, &e);

	trace_writer_note(w, "k", "v", &e);
	trace_writer_process(w, 1, 1, 0, "small", &e);
	trace_writer_thread(w, 1, 0, 1, &e);
	for (uint64_t i = 0; i < 9; i++) {
		if (put_part(w, 1, (uint32_t)(i % 2), i / 2, &e))
			abort();
		if (i % 3 == 0)
			trace_writer_flush(w, &e);
	}
	put_image(w, 7, &e);
	trace_writer_end(w, 1, 0, TRACE_ENDED_COMPLETE, &e);
	if (trace_writer_close(w, &e))
		abort();
	return bytes_of(path, n);
}

/* the more of it there is the more is read, and it is right */
static void test_cut(void **state)
{
	const char *path = trace_path("cut");
	uint64_t most = 0;
	size_t n;
	uint8_t *all = small_trace(path, &n);
	struct trace_file f;
	struct err e;

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		put_bytes(path, all, cut);
		if (cut < sizeof(struct trace_header)) {
			assert_int_equal(trace_open(&f, path, &e), -1);
			assert_non_null(strstr(e.text, ": is no trace: too"));
			continue;
		}
		assert_int_equal(trace_open(&f, path, &e), 0);
		assert_non_null(f.truncated);
		assert_true(trace_is_right(&f));
		assert_true(parts_in(&f) >= most);
		most = parts_in(&f);
		trace_close(&f);
	}
	assert_int_equal(most, 9);
	mem_free(all);
	trace_remove(path);
}

/* what is read of a file with a wrong byte is right, or it is said */
static void test_bytes(void **state)
{
	const char *path = trace_path("bytes");
	unsigned refused = 0, less = 0;
	size_t n;
	uint8_t *all = small_trace(path, &n);
	struct trace_file f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		all[i] ^= (uint8_t)(1 + i % 255);
		put_bytes(path, all, n);
		all[i] ^= (uint8_t)(1 + i % 255);
		if (trace_open(&f, path, &e)) {
			refused++;
			continue;
		}
		if (trace_is_right(&f))
			less += f.truncated != NULL;
		else
			assert_false(trace_touch(path, &e));
		trace_close(&f);
	}
	/* the header; the list and what is behind it */
	assert_true(refused >= sizeof(struct trace_header));
	assert_true(less >= sizeof(struct trace_footer));
	mem_free(all);
	trace_remove(path);
}

/* heads and bytes of blocks that were damaged get right hashes again */
static void reseal(uint8_t *p, size_t n, const struct trace_entry *x,
		   size_t nblock)
{
	struct trace_block b;

	for (size_t i = 0; i < nblock; i++) {
		if (x[i].at + sizeof b > n)
			continue;
		memcpy(&b, p + x[i].at, sizeof b);
		b.magic = TRACE_BLOCK_MAGIC;
		if (b.size <= n - x[i].at - sizeof b)
			b.bytes_hash = trace_bytes_hash(
				p + x[i].at + sizeof b, b.size);
		b.hash = trace_block_hash(&b, x[i].at);
		memcpy(p + x[i].at, &b, sizeof b);
	}
}

/* where its blocks are, by the list; that one last. Returns how many */
static size_t blocks_of(const uint8_t *p, size_t n, struct trace_entry *x,
			size_t most)
{
	struct trace_footer last;
	struct trace_block b;
	size_t count;

	memcpy(&last, p + n - sizeof last, sizeof last);
	memcpy(&b, p + last.list, sizeof b);
	count = b.size / sizeof *x;
	assert_true(count < most);
	memcpy(x, p + last.list + sizeof b, b.size);
	x[count].at = last.list;
	return count + 1;
}

/* half of them lack the list, so that what is damaged is believed */
static void test_mutants(void **state)
{
	const char *path = trace_path("mutants");
	struct mutate_spot spot[40];
	struct trace_entry block[40];
	unsigned refused = 0;
	size_t n, nblock;
	uint8_t *all = small_trace(path, &n), *copy = mem_alloc(n);
	struct err e;

	(void)state;
	nblock = blocks_of(all, n, block, 40);
	for (size_t i = 0; i < nblock; i++)
		spot[i] = (struct mutate_spot){block[i].at + 8, 40, 4};
	for (uint64_t i = 0; i < MUTANTS; i++) {
		uint64_t size;

		memcpy(copy, all, n);
		size = mutate(copy + sizeof(struct trace_header),
			      n - sizeof(struct trace_header), i, NULL, 0);
		size += sizeof(struct trace_header);
		if (i % 4 && size == n)
			mutate_field(copy, n, &(uint64_t){i},
				     &spot[i % nblock]);
		if (i % 4)
			reseal(copy, size, block, nblock - i % 2);
		put_bytes(path, copy, size);
		refused += !trace_touch(path, &e);
	}
	assert_true(refused > MUTANTS / 10);
	mem_free(all);
	mem_free(copy);
	trace_remove(path);
}

/* a part that is longer than one may be has what fits */
static void test_long(void **state)
{
	const char *path = trace_path("long");
	uint64_t word[TRACE_PART_WORDS + 1];
	struct trace_writer *w;
	struct trace_chunk x = {0};
	struct trace_file f;
	struct err e;

	(void)state;
	for (unsigned i = 0; i <= TRACE_PART_WORDS; i++)
		word[i] = UINT64_MAX;
	w = trace_writer_open(path, &plain, &e);
	trace_writer_part(w, 1, 0, word, TRACE_PART_WORDS + 1, &e);
	trace_writer_part(w, 1, 0, word, TRACE_PART_WORDS, &e);
	assert_int_equal(trace_writer_close(w, &e), 0);
	assert_int_equal(trace_open(&f, path, &e), 0);
	assert_int_equal(f.thread.n, 1);
	assert_int_equal(trace_chunk_read(&f, f.thread.at, 0, &x, &e), 0);
	assert_int_equal(x.part.n, 2);
	assert_true(x.part.at[0].cut);
	assert_int_equal(x.part.at[0].nbit, (TRACE_PART_WORDS - 1) * 63);
	assert_true(part_is(&x.part.at[1], word, TRACE_PART_WORDS));
	trace_chunk_free(&x);
	trace_close(&f);
	trace_remove(path);
}

/*
 * A trace that the first version wrote, by small_trace(), as are those of all
 * versions to come: parts are not made in another way without a new one.
 */
static void test_old(void **state)
{
	struct trace_file f;
	struct err e;

	(void)state;
	assert_int_equal(trace_open(&f, "tests/lib/version-1.trace", &e), 0);
	assert_null(f.truncated);
	assert_string_equal(trace_note(&f, "k"), "v");
	assert_string_equal(trace_process(&f, 1)->name, "small");
	assert_int_equal(f.thread.n, 2);
	assert_int_equal(f.thread.at[0].ended, TRACE_ENDED_COMPLETE);
	assert_int_equal(f.image.n, 1);
	assert_int_equal(parts_in(&f), 9);
	assert_true(trace_is_right(&f));
	trace_close(&f);
}

static void refuse(const char *path, const void *bytes, size_t n,
		   const char *why)
{
	struct trace_file f;
	struct err e;

	put_bytes(path, bytes, n);
	assert_int_equal(trace_open(&f, path, &e), -1);
	assert_non_null(strstr(e.text, path));
	assert_non_null(strstr(e.text, why));
}

static void test_refused(void **state)
{
	const char *path = trace_path("refused");
	struct trace_header h = {.magic = TRACE_MAGIC,
				 .version = TRACE_VERSION + 1};
	char zero[200] = {0};
	struct trace_file f;
	struct err e;

	(void)state;
	assert_int_equal(trace_open(&f, "/nonexistent", &e), -1);
	assert_int_equal(trace_open(&f, "/dev/null", &e), -1);
	refuse(path, zero, 0, "is no trace: too short");
	refuse(path, zero, sizeof zero, "is no trace");
	refuse(path, &h, sizeof h, "a trace of version 3, and this tally "
	       "reads 1 to 2");
	h.version = TRACE_VERSION;
	refuse(path, &h, sizeof h, "at offset 0x0: the header is broken");
	trace_remove(path);
}

/* a file of nothing but heads that promise much takes no time */
static void test_promises(void **state)
{
	const char *path = trace_path("promises");
	struct trace_header h = {.magic = TRACE_MAGIC,
				 .version = TRACE_VERSION};
	size_t n = 1 << 20;
	uint8_t *all = mem_alloc(n);
	struct err e;

	(void)state;
	h.hash = trace_header_hash(&h);
	memcpy(all, &h, sizeof h);
	for (size_t at = sizeof h; at < n; at += sizeof h) {
		struct trace_block b = {.magic = TRACE_BLOCK_MAGIC,
					.kind = TRACE_NOTE};

		b.size = (uint32_t)(n - at - sizeof b);
		b.hash = trace_block_hash(&b, at);
		memcpy(all + at, &b, sizeof b);
	}
	put_bytes(path, all, n);
	assert_true(trace_touch(path, &e)); /* there is nothing in it */
	mem_free(all);
	trace_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_mutants),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
