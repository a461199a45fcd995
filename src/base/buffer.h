/* buffer: bytes that are written one behind the other, little-endian. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdint.h>

#include "base/mem.h"

typedef VEC(uint8_t) buffer;

static inline void buffer_bytes(buffer *b, const void *p, size_t n)
{
	vec_reserve(b, n);
	if (n)
		memcpy(b->at + b->n, p, n);
	b->n += n;
}

/* a value of size 1, 2, 4 or 8 */
static inline void buffer_uint(buffer *b, unsigned size, uint64_t value)
{
	buffer_bytes(b, &value, size);
}

/* bytes of the shortest unsigned LEB128 */
static inline unsigned uleb_size(uint64_t value)
{
	unsigned n = 1;

	while (value >>= 7)
		n++;
	return n;
}

/* unsigned LEB128 of `size` bytes, at least uleb_size(value) */
static inline void buffer_uleb_sized(buffer *b, uint64_t value, unsigned size)
{
	for (; size > 1; size--, value >>= 7)
		buffer_uint(b, 1, (value & 0x7f) | 0x80);
	buffer_uint(b, 1, value & 0x7f);
}

/* the shortest unsigned LEB128 */
static inline void buffer_uleb(buffer *b, uint64_t value)
{
	buffer_uleb_sized(b, value, uleb_size(value));
}

/* the shortest signed LEB128 */
static inline void buffer_sleb(buffer *b, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		buffer_uint(b, 1, (value & 0x7f) | 0x80);
	buffer_uint(b, 1, value & 0x7f);
}

/* zeroes up to a multiple of n, a power of two */
static inline void buffer_align(buffer *b, size_t n)
{
	while (b->n & (n - 1))
		buffer_uint(b, 1, 0);
}

#endif
