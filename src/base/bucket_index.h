/*
 * bucket_index: where in a sorted array to begin to look.
 *
 * Keys are cut into buckets of equal width, about as many as there are
 * elements; for each the first element in it is known. So a search compares
 * an element or two where bisect() compares twenty, at four bytes per element.
 * Where keys lie in heaps it is as slow as bisect().
 *
 *	struct bucket_index s = bucket_begin(n, v[0].addr, v[n - 1].addr);
 *	size_t i;
 *
 *	for (i = 0; i < n; i++)
 *		bucket_add(&s, v[i].addr);
 *	...
 *	bucket_bisect(i, &s, addr, n, v[i].addr < addr);
 */
#ifndef BASE_BUCKET_INDEX_H
#define BASE_BUCKET_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/bisect.h"

struct bucket_index {
	uint64_t first;
	uint32_t n; /* elements that were added; 0: there is no index */
	uint32_t nbucket, filled;
	uint8_t shift;   /* a bucket is 1 << shift keys wide */
	uint32_t *start; /* by bucket: its first element */
};

/* for n elements with keys from first to last; n may be 0 */
struct bucket_index bucket_begin(uint32_t n, uint64_t first, uint64_t last);
/* the next element; keys ascend */
void bucket_add(struct bucket_index *s, uint64_t key);
void bucket_free(struct bucket_index *s);

/* the bucket that holds the key, or the one behind all */
static inline uint32_t bucket_number(const struct bucket_index *s, uint64_t key)
{
	uint64_t k = key < s->first ? 0 : (key - s->first) >> s->shift;

	return k < s->filled ? (uint32_t)k : s->filled;
}

/* the first element that the key may be at or before */
static inline size_t bucket_low(const struct bucket_index *s, uint64_t key)
{
	uint32_t k = bucket_number(s, key);

	return k < s->filled ? s->start[k] : s->n;
}

/* the last, in an array of n */
static inline size_t bucket_high(const struct bucket_index *s, uint64_t key,
				 size_t n)
{
	uint32_t k = bucket_number(s, key) + 1;

	return k < s->filled ? s->start[k] : n;
}

/*
 * As bisect(i, n, before), where `before` is: the key of element i is below
 * `key`.
 */
#define bucket_bisect(i, s, key, n, before)                                    \
	bisect_from(i, bucket_low(s, key), bucket_high(s, key, n), before)

#endif
