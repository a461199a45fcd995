/*
 * trace_files: trace files that are made up, of parts that can be made again
 * (random_part.h), and a check that all that is in one is right.
 */
#ifndef TESTS_TRACE_FILES_H
#define TESTS_TRACE_FILES_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random_part.h"
#include "trace/file/trace_file.h"
#include "trace/file/writer.h"

/* the path of a new file in memory: disks are slow at making files short */
static inline const char *trace_path(const char *name)
{
	static char path[40];
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

static inline void trace_remove(const char *path)
{
	close(atoi(strrchr(path, '/') + 1));
}

static inline uint64_t seed_of_part(uint32_t process, uint32_t thread,
				    uint64_t sequence)
{
	uint64_t seed = (uint64_t)process << 40 ^ (uint64_t)thread << 20 ^
			sequence;

	return splitmix(&seed);
}

/* the next part of a thread */
static inline int put_part(struct trace_writer *w, uint32_t process,
			   uint32_t thread, uint64_t sequence, struct err *e)
{
	static uint64_t word[TRACE_PART_WORDS];
	size_t n = random_part(seed_of_part(process, thread, sequence), word);

	return trace_writer_part(w, process, thread, word, n, e);
}

static inline bool is_part(const struct trace_part *p, uint32_t process,
			   uint32_t thread)
{
	static __thread uint64_t word[TRACE_PART_WORDS];
	size_t n = random_part(seed_of_part(process, thread, p->sequence),
			       word);

	return part_is(p, word, n);
}

/* an image of that number: identity, and bytes */
static inline size_t made_image(uint8_t *id, uint8_t *bytes, uint32_t number)
{
	uint64_t seed = number;
	size_t n = 10 + splitmix(&seed) % 5000;

	memset(id, 0, TRACE_ID);
	memcpy(id, &number, sizeof number);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(splitmix(&seed) % 7);
	return n;
}

static inline int put_image(struct trace_writer *w, uint32_t number,
			    struct err *e)
{
	uint8_t id[TRACE_ID], bytes[6000];
	size_t n = made_image(id, bytes, number);

	return trace_writer_image(w, id, bytes, n, e);
}

/* whether all images are what they were */
static inline bool images_are_right(const struct trace_file *f)
{
	uint8_t id[TRACE_ID], bytes[6000];
	buffer b = {0};
	bool good = true;
	struct err e;

	for (uint32_t i = 0; good && i < f->image.n; i++) {
		uint32_t number, found;
		size_t n;

		memcpy(&number, f->image.at[i].block.id, sizeof number);
		n = made_image(id, bytes, number);
		good = trace_find_image(f, id, &found) && found == i &&
		       !trace_image_read(f, i, &b, &e) && b.n == n &&
		       !memcmp(b.at, bytes, n);
	}
	vec_free(&b);
	return good;
}

/* whether the parts of a thread that are there are what they were */
static inline bool thread_is_right(const struct trace_file *f,
				   const struct trace_thread *t)
{
	struct trace_chunk x = {0};
	uint64_t next = t->first;
	bool good = true;
	struct err e;

	for (size_t i = 0; good && i < t->nchunk; i++) {
		good = !trace_chunk_read(f, t, i, &x, &e);
		for (size_t j = 0; good && j < x.part.n; j++)
			good = x.part.at[j].sequence == next++ &&
			       is_part(&x.part.at[j], t->process, t->thread);
	}
	trace_chunk_free(&x);
	return good && next == t->end && t->end <= t->parts;
}

static inline bool trace_is_right(const struct trace_file *f)
{
	for (size_t i = 0; i < f->thread.n; i++)
		if (!thread_is_right(f, &f->thread.at[i]))
			return false;
	return images_are_right(f);
}

/*
 * Reads all that can be read, whatever it is: returns whether there was no
 * error. For sanitizers.
 */
static inline bool trace_touch(const char *path, struct err *e)
{
	struct trace_chunk x = {0};
	struct trace_file f;
	buffer b = {0};
	bool good = true;

	if (trace_open(&f, path, e))
		return false;
	for (size_t i = 0; i < f.thread.n; i++)
		for (size_t j = 0; j < f.thread.at[i].nchunk; j++)
			good &= !trace_chunk_read(&f, &f.thread.at[i], j, &x,
						  e);
	for (uint32_t i = 0; i < f.image.n; i++)
		good &= !trace_image_read(&f, i, &b, e);
	trace_chunk_free(&x);
	vec_free(&b);
	trace_close(&f);
	return good;
}

/* bytes of a file, to be freed */
static inline uint8_t *bytes_of(const char *path, size_t *n)
{
	struct err e;

	return (uint8_t *)file_text(path, n, &e);
}

static inline void put_bytes(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
		abort();
}

#endif
