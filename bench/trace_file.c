/*
 * trace_file: how fast traces are written and read, and how small they become:
 * of made-up parts of programs with branches alone, and with addresses.
 *
 *	trace_file FILE [LEVEL...]
 *
 * By level of compression: megabytes of what threads write per second of
 * processor time, with all that goes to the file; bytes in the file per byte
 * that was written; megabytes of the same per second of reading. FILE is
 * overwritten.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "made_trace.h"
#include "trace/file/trace_file.h"
#include "trace/file/writer.h"

enum { PARTS = 4000, DISTINCT = 500, TIMES = 3, THREADS = 2 };

struct figures {
	double written, read, size;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const struct err *e)
{
	fprintf(stderr, "trace_file: %s\n", e->text);
	exit(1);
}

/* what threads write: PARTS, of which some are the same */
static uint64_t *make(enum made_mix mix, size_t *size)
{
	uint64_t *word = mem_alloc((size_t)DISTINCT * TRACE_PART_WORDS * 8);
	struct made_trace m = {.seed = 1, .mix = mix};

	for (unsigned i = 0; i < DISTINCT; i++)
		size[i] = made_part(&m, word + i * TRACE_PART_WORDS);
	return word;
}

static double write_all(const char *path, int level, const uint64_t *word,
			const size_t *size)
{
	const struct trace_writer_options o = {.level = level};
	double start = now();
	struct err e;
	struct trace_writer *w = trace_writer_open(path, &o, &e);

	if (!w)
		fail(&e);
	for (unsigned i = 0; i < PARTS; i++) {
		unsigned k = i % DISTINCT;

		if (trace_writer_part(w, 1, i % THREADS,
				      word + k * TRACE_PART_WORDS, size[k], &e))
			fail(&e);
	}
	if (trace_writer_close(w, &e))
		fail(&e);
	return now() - start;
}

static double read_all(const char *path)
{
	struct trace_chunk x = {0};
	double start = now();
	struct trace_file f;
	struct err e;

	if (trace_open(&f, path, &e))
		fail(&e);
	for (size_t i = 0; i < f.thread.n; i++)
		for (size_t j = 0; j < f.thread.at[i].nchunk; j++)
			if (trace_chunk_read(&f, &f.thread.at[i], j, &x, &e))
				fail(&e);
	trace_chunk_free(&x);
	trace_close(&f);
	return now() - start;
}

static struct figures measure(const char *path, int level,
			      const uint64_t *word, const size_t *size)
{
	double bytes = 0, t;
	struct figures x = {0};
	struct stat st;

	for (unsigned i = 0; i < PARTS; i++)
		bytes += (double)size[i % DISTINCT] * 8;
	for (unsigned i = 0; i < TIMES; i++) {
		t = bytes / 1e6 / write_all(path, level, word, size);
		x.written = t > x.written ? t : x.written;
		t = bytes / 1e6 / read_all(path);
		x.read = t > x.read ? t : x.read;
	}
	if (!stat(path, &st))
		x.size = (double)st.st_size / bytes;
	return x;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"branches", "addresses"};
	static size_t size[DISTINCT];

	if (argc < 2)
		return 2;
	printf("%-10s %5s %12s %8s %12s\n", "", "level", "written MB/s",
	       "size", "read MB/s");
	for (unsigned mix = 0; mix < 2; mix++) {
		uint64_t *word = make((enum made_mix)mix, size);
		int i = 2;

		do {
			int level = argc > 2 ? atoi(argv[i]) : 0;
			struct figures x = measure(argv[1], level, word, size);

			printf("%-10s %5d %12.0f %8.4f %12.0f\n", names[mix],
			       level, x.written, x.size, x.read);
		} while (++i < argc);
		mem_free(word);
	}
	return 0;
}
