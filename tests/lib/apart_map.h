/*
 * apart_map: a packed map taken apart into its front and its chunks, as they
 * are before they are compressed, and put together again with other bytes in
 * one of them: no checksum stops that, nor does the size of a chunk.
 */
#ifndef APART_MAP_H
#define APART_MAP_H

#include <stdlib.h>

#include "base/compress.h"
#include "count/map/map_store.h"

struct apart_map {
	uint8_t head[MAP_HEAD];
	VEC(buffer) part; /* the front, then chunks */
};

/* the next of the parts in a front or chunk, as it lies there */
static inline struct bytes apart_next(struct bytes *b)
{
	uint64_t n = bytes_uleb(b);

	return bytes_sub(b, n);
}

static inline void apart_put(buffer *out, const uint8_t *p, size_t n)
{
	buffer_uleb(out, n);
	buffer_bytes(out, p, n);
}

/* how many parts there are in the front before the one of chunks */
enum { APART_BEFORE_CHUNKS = PART_CHUNKS - INSIDE_PARTS };

/* moves to the sizes of the front's chunks, and copies what is before */
static inline struct bytes apart_chunks(struct bytes *front, buffer *copy)
{
	for (unsigned i = 0; i < APART_BEFORE_CHUNKS; i++) {
		struct bytes p = apart_next(front);

		apart_put(copy, p.p, p.n);
	}
	return apart_next(front);
}

/* the next chunk's size; the rest of what is said of it is copied, with *size
   instead if that is not NULL */
static inline uint64_t apart_chunk(struct bytes *b, buffer *copy,
				   const size_t *size)
{
	uint64_t n;

	buffer_uleb(copy, bytes_uleb(b)); /* procedures */
	n = bytes_uleb(b);
	buffer_uleb(copy, size ? *size : n);
	for (unsigned i = 0; i < 3; i++) /* lengths and counters */
		buffer_uleb(copy, bytes_uleb(b));
	buffer_sleb(copy, (int64_t)bytes_sleb(b)); /* addresses */
	buffer_uleb(copy, bytes_uleb(b));
	return n;
}

static inline void apart_take(struct apart_map *x, struct bytes *b, uint64_t n)
{
	const uint8_t *packed = bytes_take(b, n);
	buffer large = {0};
	struct err e;

	if (!packed || decompress(&large, packed, n, "", "", &e))
		abort();
	vec_push(&x->part, large);
}

/* requires: it is a map of the version that is written now */
static inline void apart_make(struct apart_map *x, const uint8_t *bytes,
			      size_t n)
{
	struct bytes b = bytes_window(bytes, n, 0), front, chunks;
	buffer copy = {0};

	*x = (struct apart_map){0};
	memcpy(x->head, bytes_take(&b, MAP_HEAD), MAP_HEAD);
	apart_take(x, &b, bytes_uint(&b, 8));
	front = bytes_window(x->part.at[0].at, x->part.at[0].n, 0);
	chunks = apart_chunks(&front, &copy);
	while (bytes_left(&chunks))
		apart_take(x, &b, apart_chunk(&chunks, &copy, NULL));
	vec_free(&copy);
}

static inline void apart_free(struct apart_map *x)
{
	for (size_t i = 0; i < x->part.n; i++)
		vec_free(&x->part.at[i]);
	vec_free(&x->part);
}

/* the front of a map whose chunks have these sizes */
static inline void apart_resize(buffer *out, const buffer *front,
				const size_t *size)
{
	struct bytes b = bytes_window(front->at, front->n, 0);
	struct bytes chunks = apart_chunks(&b, out);
	buffer changed = {0};

	while (bytes_left(&chunks))
		apart_chunk(&chunks, &changed, size++);
	apart_put(out, changed.at, changed.n);
	buffer_bytes(out, b.p + b.at, bytes_left(&b));
	vec_free(&changed);
}

/* appends the map to *out, with other bytes in one of its parts; 0: the front,
   which is as it was but for sizes if another part is changed */
static inline void apart_join(const struct apart_map *x, size_t part,
			      const uint8_t *bytes, size_t n, buffer *out)
{
	size_t *size = NEW_ARRAY(size_t, x->part.n);
	buffer chunks = {0}, large = {0}, front = {0};
	size_t start = out->n;

	for (size_t i = 1; i < x->part.n; i++) {
		const buffer *is = &x->part.at[i];
		size_t before = chunks.n;

		compress(&chunks, i == part ? bytes : is->at,
			 i == part ? n : is->n);
		size[i - 1] = chunks.n - before;
	}
	if (part)
		apart_resize(&large, &x->part.at[0], size);
	else
		buffer_bytes(&large, bytes, n);
	compress(&front, large.at, large.n);
	buffer_bytes(out, x->head, MAP_HEAD);
	buffer_uint(out, 8, front.n);
	vec_append(out, &front);
	vec_append(out, &chunks);
	map_seal(out->at + start, out->n - start);
	vec_free(&chunks);
	vec_free(&large);
	vec_free(&front);
	mem_free(size);
}

/* all columns as version 3 has them, one behind the other; requires: there is
   one chunk */
static inline void apart_columns(const struct apart_map *x, buffer *out)
{
	struct bytes front = bytes_window(x->part.at[0].at, x->part.at[0].n, 0);
	struct bytes chunk = bytes_window(x->part.at[1].at, x->part.at[1].n, 0);

	for (enum map_part i = 0; i <= PART_IN_PLACE; i++) {
		struct bytes p = apart_next(map_part_is_inside(i) ? &chunk :
								    &front);

		if (i == PART_CODES || i == PART_SLICES)
			continue;
		apart_put(out, p.p, p.n);
	}
}

#endif
