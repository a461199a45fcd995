/*
 * shortcut: where in a sorted array to begin to look.
 *
 * Keys are cut into stretches of equal width, about as many as there are
 * elements; for each the first element in it is known. So a search compares
 * an element or two where bisect() compares twenty, at four bytes per element.
 * Where keys lie in heaps it is as slow as bisect().
 *
 *	struct shortcut s = shortcut_begin(n, v[0].addr, v[n - 1].addr);
 *	size_t i;
 *
 *	for (i = 0; i < n; i++)
 *		shortcut_add(&s, v[i].addr);
 *	...
 *	shortcut_bisect(i, &s, addr, n, v[i].addr < addr);
 */
#ifndef BASE_SHORTCUT_H
#define BASE_SHORTCUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bisect.h"

struct shortcut {
	uint64_t first;
	uint32_t n; /* elements that were added; 0: there is no shortcut */
	uint32_t nstretch, filled;
	uint8_t shift;	 /* a stretch is 1 << shift keys wide */
	uint32_t *start; /* by stretch: its first element */
};

/* for n elements with keys from first to last; n may be 0 */
struct shortcut shortcut_begin(uint32_t n, uint64_t first, uint64_t last);
/* the next element; keys ascend */
void shortcut_add(struct shortcut *s, uint64_t key);
void shortcut_free(struct shortcut *s);

/* the stretch that holds the key, or the one behind all */
static inline uint32_t shortcut_stretch(const struct shortcut *s, uint64_t key)
{
	uint64_t k = key < s->first ? 0 : (key - s->first) >> s->shift;

	return k < s->filled ? (uint32_t)k : s->filled;
}

/* the first element that the key may be at or before */
static inline size_t shortcut_low(const struct shortcut *s, uint64_t key)
{
	uint32_t k = shortcut_stretch(s, key);

	return k < s->filled ? s->start[k] : s->n;
}

/* the last, in an array of n */
static inline size_t shortcut_high(const struct shortcut *s, uint64_t key,
				   size_t n)
{
	uint32_t k = shortcut_stretch(s, key) + 1;

	return k < s->filled ? s->start[k] : n;
}

/*
 * As bisect(i, n, before), where `before` is: the key of element i is below
 * `key`.
 */
#define shortcut_bisect(i, s, key, n, before) \
	bisect_from(i, shortcut_low(s, key), shortcut_high(s, key, n), before)

#endif
