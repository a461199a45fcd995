/* compress: see compress.h. */
#include "base/compress.h"

#include <assert.h>
#include <pthread.h>
#include <zstd.h>

enum {
	COMPRESS_LEVEL = 3, /* higher ones gain little on columns of numbers */
	COMPRESS_SLOW = 19,
	FILL_HEAD = 8,     /* of a frame to be skipped: magic and size */
};

/* a frame that decoders skip, of at least n bytes */
static void compress_fill(buffer *out, size_t n)
{
	size_t rest = n > FILL_HEAD ? n - FILL_HEAD : 0;

	assert(rest <= UINT32_MAX);
	buffer_uint(out, 4, ZSTD_MAGIC_SKIPPABLE_START);
	buffer_uint(out, 4, rest);
	vec_reserve(out, rest);
	memset(out->at + out->n, 0, rest);
	out->n += rest;
}

static void compress_by(int level, buffer *out, const void *bytes, size_t n)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n), got;

	assert(z);
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	vec_reserve(out, room);
	got = ZSTD_compress2(z, out->at + out->n, room, bytes, n);
	assert(!ZSTD_isError(got));
	ZSTD_freeCCtx(z);
	out->n += got;
	if (n / COMPRESS_MOST >= got)
		compress_fill(out, n / COMPRESS_MOST + 1 - got);
}

void compress(buffer *out, const void *bytes, size_t n)
{
	compress_by(COMPRESS_LEVEL, out, bytes, n);
}

void compress_slowly(buffer *out, const void *bytes, size_t n)
{
	compress_by(COMPRESS_SLOW, out, bytes, n);
}

uint64_t compress_size(const void *bytes, size_t n)
{
	unsigned long long size = ZSTD_getFrameContentSize(bytes, n);

	return size == ZSTD_CONTENTSIZE_ERROR ||
			       size == ZSTD_CONTENTSIZE_UNKNOWN
		       ? 0
		       : size;
}

static pthread_key_t context_key;

static void free_context(void *z)
{
	ZSTD_freeDCtx(z);
}

static void make_key(void)
{
	pthread_key_create(&context_key, free_context);
}

/* of this thread: to make one takes longer than to read a small piece */
static ZSTD_DCtx *context(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZSTD_DCtx *z;

	pthread_once(&once, make_key);
	z = pthread_getspecific(context_key);
	if (z)
		return z;
	z = ZSTD_createDCtx();
	assert(z);
	pthread_setspecific(context_key, z);
	return z;
}

int decompress(buffer *out, const void *bytes, size_t n, const char *where,
	       const char *what, struct err *e)
{
	return decompress_piece(out, bytes, n, (n + 1) * COMPRESS_MOST - 1,
				where, what, e);
}

int decompress_piece(buffer *out, const void *bytes, size_t n, size_t most,
		     const char *where, const char *what, struct err *e)
{
	unsigned long long size = ZSTD_getFrameContentSize(bytes, n);
	size_t got;

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
		return err_set(e, ERR_INPUT,
			       "%s: %s is broken: not in zstd's "
			       "format",
			       where, what);
	if (size > most)
		return err_set(e, ERR_INPUT,
			       "%s: %s is broken: %zu bytes "
			       "claim to hold %llu",
			       where, what, n, size);
	out->n = 0;
	vec_reserve(out, size + 1);
	got = ZSTD_decompressDCtx(context(), out->at, size, bytes, n);
	if (ZSTD_isError(got))
		return err_set(e, ERR_INPUT, "%s: %s is broken: %s", where,
			       what, ZSTD_getErrorName(got));
	if (got != size)
		return err_set(e, ERR_INPUT, "%s: %s is broken: it is short",
			       where, what);
	out->n = got;
	return 0;
}

struct compressor {
	ZSTD_CCtx *z;
};

struct compressor *compressor_new(int level)
{
	struct compressor *c = NEW_ARRAY(struct compressor, 1);

	c->z = ZSTD_createCCtx();
	assert(c->z);
	ZSTD_CCtx_setParameter(c->z, ZSTD_c_compressionLevel, level);
	return c;
}

void compressor_add(struct compressor *c, buffer *out, const void *bytes,
		    size_t n)
{
	size_t room = ZSTD_compressBound(n), got;

	vec_reserve(out, room);
	got = ZSTD_compress2(c->z, out->at + out->n, room, bytes, n);
	assert(!ZSTD_isError(got));
	out->n += got;
}

/* the format: RFC 8878, 3.1.1 */
void compress_not(buffer *out, const void *bytes, size_t n)
{
	enum {
		HEAD = 0xa0, /* one segment, whose size has 4 bytes */
		BLOCK = 128 << 10,
		LAST = 1, /* bit of a block's head */
		SIZE_SHIFT = 3,
	};
	const uint8_t *at = bytes;

	assert(n <= UINT32_MAX);
	buffer_uint(out, 4, ZSTD_MAGICNUMBER);
	buffer_uint(out, 1, HEAD);
	buffer_uint(out, 4, n);
	do {
		size_t size = n < BLOCK ? n : BLOCK;

		n -= size;
		buffer_uint(out, 3, size << SIZE_SHIFT | (n ? 0 : LAST));
		buffer_bytes(out, at, size);
		at += size;
	} while (n);
}

void compressor_free(struct compressor *c)
{
	if (c)
		ZSTD_freeCCtx(c->z);
	mem_free(c);
}
