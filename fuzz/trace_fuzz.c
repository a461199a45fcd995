/*
 * trace_fuzz: a libFuzzer target for trace files. The first byte says what the
 * others are: columns of a chunk; a dense one; words of threads, which are packed and read
 * again; or blocks, which get the hashes that they need to be looked at. How to
 * run it: fuzz/README.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compress.h"
#include "trace/file/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_columns(const uint8_t *data, size_t size)
{
	struct trace_chunk x = {0};
	struct err e;

	compress(&x.packed, data, size);
	chunk_unpack(&x, CHUNK_PLAIN, 0, "input", &e);
	trace_chunk_free(&x);
}

static void read_dense(const uint8_t *data, size_t size)
{
	struct trace_chunk x = {0};
	struct err e;

	buffer_bytes(&x.packed, data, size);
	chunk_unpack(&x, CHUNK_DENSE, 0, "input", &e);
	trace_chunk_free(&x);
}

/* parts that were read can be packed again, and read */
static void pack_again(struct chunk_packer *k, const struct trace_chunk *x)
{
	struct trace_chunk dense = {0};
	struct err e;

	for (size_t i = 0; i < x->part.n; i++)
		if (!chunk_add(k, &x->part.at[i]))
			abort();
	if (!chunk_put_dense(k, NULL, &dense.packed) ||
	    chunk_unpack(&dense, CHUNK_DENSE, 0, "input", &e) ||
	    dense.part.n != x->part.n)
		abort();
	trace_chunk_free(&dense);
}

/* what was packed can be read, whatever it was */
static void pack_words(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(uint64_t) / 2;
	uint64_t *word = mem_zalloc(2 * n + 1, sizeof *word);
	const uint32_t half[2] = {(uint32_t)n, (uint32_t)n};
	/* what is left over are values of registers */
	const uint32_t rest[2] = {0, (uint32_t)(size - 2 * n * sizeof *word)};
	const struct chunk_parts parts = {.word = word, .size = half,
					  .value = data + size - rest[1],
					  .nvalue = rest, .n = 2};
	struct chunk_packer *k = chunk_packer_new(0);
	struct trace_chunk x = {0};
	struct err e;

	if (n)
		memcpy(word, data, 2 * n * sizeof *word);
	chunk_pack(k, &parts, &x.packed);
	if (chunk_unpack(&x, CHUNK_PLAIN, 0, "input", &e) || x.part.n != 2)
		abort();
	pack_again(k, &x);
	trace_chunk_free(&x);
	chunk_packer_free(k);
	mem_free(word);
}

static void read_file(const uint8_t *data, size_t size)
{
	struct trace_chunk x = {0};
	struct trace_file f;
	buffer b = {0};
	char path[32];
	struct err e;
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size &&
	    !trace_open(&f, path, &e)) {
		for (size_t i = 0; i < f.thread.n; i++)
			for (size_t j = 0; j < f.thread.at[i].nchunk; j++)
				trace_chunk_read(&f, &f.thread.at[i], j, &x,
						 &e);
		for (uint32_t i = 0; i < f.image.n; i++)
			trace_image_read(&f, i, &b, &e);
		trace_close(&f);
	}
	vec_free(&b);
	trace_chunk_free(&x);
	close(fd);
}

/* each block: kind, size (2), the rest of its head, bytes that are packed */
static void make_file(const uint8_t *data, size_t size)
{
	struct trace_header h = {.magic = TRACE_MAGIC,
				 .version = TRACE_VERSION,
				 .form = size ? data[0] & 1 : 0};
	buffer b = {0};

	h.hash = trace_header_hash(&h);
	buffer_bytes(&b, &h, sizeof h);
	while (size > 40) {
		struct trace_block k = {.magic = TRACE_BLOCK_MAGIC,
					.kind = (data[0] & 7) + (data[0] >> 7)};
		size_t n = (size_t)data[1] | (size_t)data[2] << 8, at = b.n;
		buffer small = {0};

		n = n < size - 40 ? n : size - 40;
		if (data[0] & 8)
			compress(&small, data + 40, n);
		else
			buffer_bytes(&small, data + 40, n);
		memcpy(k.id, data + 3, 32); /* up to the hashes */
		k.size = (uint32_t)small.n;
		k.bytes_hash = trace_bytes_hash(small.at, small.n);
		k.hash = trace_block_hash(&k, at);
		buffer_bytes(&b, &k, sizeof k);
		buffer_bytes(&b, small.at, small.n);
		buffer_align(&b, TRACE_ALIGN);
		vec_free(&small);
		data += 40 + n;
		size -= 40 + n;
	}
	read_file(b.at, b.n);
	vec_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 5) {
	case 0: read_columns(data + 1, size - 1); break;
	case 1: pack_words(data + 1, size - 1); break;
	case 2: make_file(data + 1, size - 1); break;
	case 3: read_dense(data + 1, size - 1); break;
	default: read_file(data + 1, size - 1);
	}
	return 0;
}
