/*
 * hash: XXH64 (Yann Collet's xxHash, 64 bits), as a checksum of files and to
 * make short names of long ones. Freestanding: the audit module and tally
 * have to come to the same numbers.
 *
 * Four lanes of multiplications that do not wait for each other: a rewritten
 * libc takes 0.2 ms. Not for secrets.
 */
#ifndef ABI_HASH_H
#define ABI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_P1 0x9e3779b185ebca87u
#define HASH_P2 0xc2b2ae3d27d4eb4fu
#define HASH_P3 0x165667b19e3779f9u
#define HASH_P4 0x85ebca77c2b2ae63u
#define HASH_P5 0x27d4eb2f165667c5u

static inline uint64_t hash_rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

/* the n bytes at p as a little-endian number */
static inline uint64_t hash_word(const uint8_t *p, unsigned n)
{
	uint64_t w = 0;

	if (n == 8) {
		__builtin_memcpy(&w, p, 8);
		return w;
	}
	for (unsigned i = 0; i < n; i++)
		w |= (uint64_t)p[i] << 8 * i;
	return w;
}

static inline uint64_t hash_round(uint64_t lane, uint64_t word)
{
	return hash_rotate(lane + word * HASH_P2, 31) * HASH_P1;
}

/* the lanes over all whole blocks of 32 bytes; *p moves behind them */
static inline uint64_t hash_blocks(const uint8_t **p, size_t n, uint64_t seed)
{
	uint64_t v[4] = {seed + HASH_P1 + HASH_P2, seed + HASH_P2, seed,
			 seed - HASH_P1};
	uint64_t h;

	for (; n >= 32; n -= 32)
		for (unsigned i = 0; i < 4; i++, *p += 8)
			v[i] = hash_round(v[i], hash_word(*p, 8));
	h = hash_rotate(v[0], 1) + hash_rotate(v[1], 7) +
	    hash_rotate(v[2], 12) + hash_rotate(v[3], 18);
	for (unsigned i = 0; i < 4; i++)
		h = (h ^ hash_round(0, v[i])) * HASH_P1 + HASH_P4;
	return h;
}

/* every bit of the sum reaches every other */
static inline uint64_t hash_finish(uint64_t h)
{
	h = (h ^ h >> 33) * HASH_P2;
	h = (h ^ h >> 29) * HASH_P3;
	return h ^ h >> 32;
}

/* XXH64 of n bytes */
static inline uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const uint8_t *p = bytes, *end = p + n;
	uint64_t h = n >= 32 ? hash_blocks(&p, n, seed) : seed + HASH_P5;

	h += n;
	for (; end - p >= 8; p += 8)
		h = hash_rotate(h ^ hash_round(0, hash_word(p, 8)), 27) *
			    HASH_P1 +
		    HASH_P4;
	if (end - p >= 4) {
		h = hash_rotate(h ^ hash_word(p, 4) * HASH_P1, 23) * HASH_P2 +
		    HASH_P3;
		p += 4;
	}
	for (; p < end; p++)
		h = hash_rotate(h ^ *p * HASH_P5, 11) * HASH_P1;
	return hash_finish(h);
}

#endif
