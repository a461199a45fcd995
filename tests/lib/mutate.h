/*
 * mutate: damages a copy of a file, the same way for the same seed.
 *
 * Random bytes rarely reach far into a format, so half of the damage is
 * aimed: the caller lists where structures are (struct mutate_spot), and
 * fields there are overwritten with values that break arithmetic. The rest is
 * truncation, flipped bytes, zeroed ranges, and pieces copied over others.
 */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <stdint.h>
#include <string.h>

#include "splitmix.h"

/* a table of structures: [offset, offset + size), fields of `step` bytes */
struct mutate_spot {
	uint64_t offset, size;
	unsigned step; /* 1, 2, 4 or 8 */
};

/* a number below n, which is not 0 */
static inline uint64_t mutate_below(uint64_t *state, uint64_t n)
{
	return splitmix(state) % n;
}

/* a value that breaks things: limits, off by one, sizes of the file */
static inline uint64_t mutate_value(uint64_t *state, uint64_t size)
{
	const uint64_t extreme[] = {
		0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000,
		INT32_MAX, (uint64_t)INT32_MAX + 1, UINT32_MAX,
		(uint64_t)UINT32_MAX + 1, INT64_MAX, (uint64_t)INT64_MAX + 1,
		UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 0xfff, size,
		size - 1, size + 1, size / 2, -size,
	};
	uint64_t pick = mutate_below(state, sizeof extreme / 8 + 8);

	if (pick < sizeof extreme / 8)
		return extreme[pick];
	return splitmix(state) >> mutate_below(state, 64);
}

/* overwrites a field of a spot, or adds a little to it */
static inline void mutate_field(uint8_t *p, uint64_t n, uint64_t *state,
				const struct mutate_spot *s)
{
	uint64_t at, value = 0;

	if (s->size < s->step || s->offset > n || s->size > n - s->offset)
		return;
	at = s->offset + mutate_below(state, s->size / s->step) * s->step;
	memcpy(&value, p + at, s->step);
	if (mutate_below(state, 3))
		value = mutate_value(state, n);
	else
		value += mutate_below(state, 33) - 16;
	memcpy(p + at, &value, s->step);
}

/* copies a piece of the file over another place */
static inline void mutate_splice(uint8_t *p, uint64_t n, uint64_t *state)
{
	uint64_t size = 1 + mutate_below(state, n < 512 ? n : 512);
	uint64_t from = mutate_below(state, n - size + 1);
	uint64_t to = mutate_below(state, n - size + 1);

	memmove(p + to, p + from, size);
}

/* zeroes a range, or fills it with ones */
static inline void mutate_fill(uint8_t *p, uint64_t n, uint64_t *state)
{
	uint64_t size = 1 + mutate_below(state, n < 4096 ? n : 4096);
	uint64_t at = mutate_below(state, n - size + 1);

	memset(p + at, mutate_below(state, 4) ? 0 : 0xff, size);
}

/* one piece of damage to p[0 .. n-1]; n is not 0 */
static inline void mutate_once(uint8_t *p, uint64_t n, uint64_t *state,
			       const struct mutate_spot *spot, size_t nspot)
{
	uint64_t kind = mutate_below(state, 8);

	if (kind < 5 && nspot)
		mutate_field(p, n, state, &spot[mutate_below(state, nspot)]);
	else if (kind == 5)
		mutate_splice(p, n, state);
	else if (kind == 6)
		mutate_fill(p, n, state);
	else
		p[mutate_below(state, n)] ^= 1u << mutate_below(state, 8);
}

/*
 * Damages p[0 .. n-1] in one to eight places; returns its new size, which is
 * smaller once in eight times.
 */
static inline uint64_t mutate(uint8_t *p, uint64_t n, uint64_t seed,
			      const struct mutate_spot *spot, size_t nspot)
{
	uint64_t state = seed;
	uint64_t times = 1 + mutate_below(&state, 8);

	for (uint64_t i = 0; i < times && n; i++)
		mutate_once(p, n, &state, spot, nspot);
	return mutate_below(&state, 8) ? n : mutate_below(&state, n + 1);
}

#endif
