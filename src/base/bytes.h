/*
 * bytes: a reader that cannot run off its end.
 *
 * A struct bytes is a window into the file with a cursor. A read beyond the
 * end gives 0, sets `bad` and leaves the cursor at the end, so a decoder can
 * read a whole structure and check once. The window knows the virtual address
 * of its first byte, because many encodings are relative to their own place.
 *
 * Values are little-endian, as are both machines that tally runs on: loads
 * are memcpy, which is safe at any alignment.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *p;
	size_t n, at;
	uint64_t addr; /* of p[0] */
	bool bad;      /* something was read beyond the end */
};

/* n bytes at p, which has the virtual address addr; empty if p is NULL */
static inline struct bytes bytes_window(const uint8_t *p, size_t n,
					uint64_t addr)
{
	static const uint8_t nothing[1];

	return (struct bytes){.p = p ? p : nothing, .n = p ? n : 0,
			      .addr = addr};
}

/* how many bytes are left to read */
static inline size_t bytes_left(const struct bytes *b)
{
	return b->n - b->at;
}

/* the virtual address of the cursor */
static inline uint64_t bytes_addr(const struct bytes *b)
{
	return b->addr + b->at;
}

/* moves the cursor on by n bytes; returns where it was, NULL if too short */
static inline const uint8_t *bytes_take(struct bytes *b, uint64_t n)
{
	const uint8_t *p = b->p + b->at;

	if (n > bytes_left(b)) {
		b->bad = true;
		b->at = b->n;
		return NULL;
	}
	b->at += n;
	return p;
}

/* the next n bytes as a window of their own; the cursor moves past them */
static inline struct bytes bytes_sub(struct bytes *b, uint64_t n)
{
	uint64_t addr = bytes_addr(b);
	const uint8_t *p = bytes_take(b, n);
	struct bytes sub = bytes_window(p, n, addr);

	sub.bad = !p;
	return sub;
}

/* an unsigned value of size 1, 2, 4 or 8 */
static inline uint64_t bytes_uint(struct bytes *b, unsigned size)
{
	const uint8_t *p = bytes_take(b, size);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, size);
	return v;
}

/* a value of size 1, 2, 4 or 8, sign-extended */
static inline uint64_t bytes_sint(struct bytes *b, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(bytes_uint(b, size) << shift) >> shift);
}

/* one byte */
static inline uint8_t bytes_u8(struct bytes *b)
{
	return (uint8_t)bytes_uint(b, 1);
}

/* longest LEB128: assemblers pad such numbers, but only by a few bytes */
enum { BYTES_LEB_MAX = 16 };

/* LEB128, bits beyond 64 dropped; *shift: bits read */
static inline uint64_t bytes_leb(struct bytes *b, unsigned *shift,
				 uint8_t *last)
{
	uint64_t v = 0;

	*shift = 0;
	do {
		*last = bytes_u8(b);
		if (*shift < 64)
			v |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while ((*last & 0x80) && *shift < 7 * BYTES_LEB_MAX);
	b->bad |= *last & 0x80;
	return v;
}

/* whether a LEB128 of one byte is next, as most are */
static inline bool bytes_leb_is_short(const struct bytes *b)
{
	return b->at < b->n && b->p[b->at] < 0x80;
}

/* unsigned LEB128 */
static inline uint64_t bytes_uleb(struct bytes *b)
{
	unsigned shift;
	uint8_t last;

	if (bytes_leb_is_short(b))
		return b->p[b->at++];
	return bytes_leb(b, &shift, &last);
}

/* signed LEB128, as two's complement */
static inline uint64_t bytes_sleb(struct bytes *b)
{
	unsigned shift;
	uint8_t last;
	uint64_t v;

	if (bytes_leb_is_short(b))
		return (uint64_t)(((int64_t)b->p[b->at++] ^ 0x40) - 0x40);
	v = bytes_leb(b, &shift, &last);
	if (shift < 64 && (last & 0x40))
		v |= ~(uint64_t)0 << shift;
	return v;
}

/* a string of at most max characters, or NULL (and bad) if there is none */
static inline const char *bytes_string(struct bytes *b, size_t max)
{
	const char *p = (const char *)b->p + b->at;
	size_t n = strnlen(p, bytes_left(b) <= max ? bytes_left(b) : max + 1);

	if (n > max || n == bytes_left(b)) {
		b->bad = true;
		b->at = b->n;
		return NULL;
	}
	b->at += n + 1;
	return p;
}

#endif
