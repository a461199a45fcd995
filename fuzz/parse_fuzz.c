/*
 * parse_fuzz: a libFuzzer target for all that the daemon has read of strangers'
 * files (src/sample/processes/parse.c): build-ids, perf maps and jitdumps, by the first
 * byte of the input; the rest is the file. How to run it: fuzz/README.md.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "sample/processes/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* addresses and times that small files are likely to name */
static void put_addresses(buffer *b, const uint8_t *data, size_t size)
{
	enum { MOST = 32 };
	uint64_t n = size / 8 < MOST ? size / 8 : MOST, at;

	buffer_uint(b, 8, n + 2);
	buffer_uint(b, 8, 0x1000);
	buffer_uint(b, 8, 0x1010);
	for (uint64_t i = 0; i < n; i++) {
		memcpy(&at, data + 8 * i, sizeof at);
		buffer_uint(b, 8, at);
	}
}

static void put_samples(buffer *b, const uint8_t *data, size_t size)
{
	struct parse_sample x = {0x1000, 0, UINT64_MAX};

	buffer_uint(b, 8, 2);
	buffer_bytes(b, &x, sizeof x);
	if (size >= sizeof x)
		memcpy(&x, data + size - sizeof x, sizeof x);
	buffer_bytes(b, &x, sizeof x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	buffer question = {0}, answer = {0};
	unsigned what = size ? data[0] % 3 : 0;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	if (!size || ftruncate(fd, 0) ||
	    pwrite(fd, data + 1, size - 1, 0) != (ssize_t)size - 1)
		return 0;
	buffer_uint(&question, 1, what);
	if (what == PARSE_DUMP) {
		parse_put_text(&question, "/tmp/jit-1.dump", PARSE_PATH);
		buffer_uint(&question, 1, size & 1);
	}
	if (what != PARSE_BUILD_ID)
		put_addresses(&question, data, size);
	if (what == PARSE_DUMP)
		put_samples(&question, data, size);
	parse_answer(fd, bytes_window(question.at, question.n, 0), &answer);
	/* and a question that is none: the input itself */
	parse_answer(fd, bytes_window(data, size, 0), &answer);
	vec_free(&question);
	vec_free(&answer);
	return 0;
}
