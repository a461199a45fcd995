/*
 * words: those of a segment that may be addresses in a range. Without
 * relocations any may be one, and payloads of hundreds of megabytes are met:
 * what a word costs matters.
 *
 *	struct words w = words_of(im, segment, low, high);
 *	while (words_next(&w)) ... w.place, w.value ...
 */
#ifndef ELF_WORDS_H
#define ELF_WORDS_H

#include <string.h>

#include "elf/image.h"

struct words {
	uint64_t place, value; /* of the word at hand */
	uint64_t low, high;    /* what it may be: at least, and less than */
	const uint8_t *next;
	size_t left; /* bytes from there on */
};

static inline struct words words_of(const struct image *im,
				    const struct segment *g, uint64_t low,
				    uint64_t high)
{
	struct words w = {.low = low, .high = high};
	uint64_t first = (g->start + 7) & ~(uint64_t)7;

	w.next = image_at(im, first, &w.left);
	w.place = first - 8;
	return w;
}

static inline bool words_next(struct words *w)
{
	while (w->left >= 8) {
		memcpy(&w->value, w->next, 8);
		w->next += 8;
		w->left -= 8;
		w->place += 8;
		if (w->value >= w->low && w->value < w->high)
			return true;
	}
	return false;
}

#endif
