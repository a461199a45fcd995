/*
 * random_part: parts of traces of every shape, the same for the same seed, and
 * a check that a part that was read is that one: it walks the words bit by bit.
 */
#ifndef TESTS_RANDOM_PART_H
#define TESTS_RANDOM_PART_H

#include "splitmix.h"
#include "trace/file/chunk.h"

enum { PART_SHAPES = 6, PART_TYPICAL = 300 };

/* below n */
static inline uint64_t part_below(uint64_t *seed, uint64_t n)
{
	return splitmix(seed) % n;
}

/* of any size; the order of calls is the same for every compiler */
static inline uint64_t part_number(uint64_t *seed, unsigned most_bits)
{
	uint64_t less = part_below(seed, most_bits);

	return splitmix(seed) >> (64 - most_bits + less);
}

/* a word of trace, of 56 to 63 bits */
static inline uint64_t part_bits(uint64_t *seed)
{
	uint64_t n = 56 + part_below(seed, 8);

	return (uint64_t)1 << n | splitmix(seed) >> (64 - n);
}

/* a record of n words behind its head; returns the words it took */
static inline size_t part_record(uint64_t *seed, uint64_t *to, size_t n)
{
	uint64_t kind = part_below(seed, 4) ? part_below(seed, 3) :
					      part_below(seed, 256);
	uint64_t number = part_number(seed, 40);
	uint64_t left = part_below(seed, 64);

	to[0] = number << 16 | n << 8 | kind;
	to[1] = (uint64_t)1 << left;
	if (left)
		to[1] |= splitmix(seed) >> (64 - left);
	for (size_t i = 2; i <= n; i++)
		to[i] = part_below(seed, 3) ? 0x7f0000001000 + i * kind :
			part_number(seed, 64);
	return n + 1;
}

/* fills a part; returns its words, at most TRACE_PART_WORDS */
static inline size_t random_part(uint64_t seed, uint64_t *to)
{
	uint64_t shape = part_below(&seed, PART_SHAPES);
	size_t most = part_below(&seed, 40) ? part_below(&seed, PART_TYPICAL) :
					      TRACE_PART_WORDS;
	size_t n = 0, size;

	if (!shape)
		return 0;
	for (;;) {
		bool record = shape == 1 || shape == 2 ||
			      (shape > 3 && !part_below(&seed, 5));

		size = shape == 2 ? 255 : shape == 4 ? 1 :
		       1 + part_below(&seed, part_below(&seed, 9) ? 12 : 255);
		if (n + (record ? size + 1 : 1) > most)
			return n;
		if (record)
			n += part_record(&seed, to + n, size);
		else
			to[n++] = part_bits(&seed);
	}
}

struct part_check {
	const struct trace_part *p;
	uint64_t bit;
	size_t record;
};

static inline unsigned part_bit(const struct trace_part *p, uint64_t i)
{
	return p->bit[i / 64] >> (63 - i % 64) & 1;
}

/* whether the bits below the highest one bit of a word are next */
static inline bool part_has_bits(struct part_check *c, uint64_t word)
{
	int n = 63 - __builtin_clzll(word);

	while (n-- > 0)
		if (c->bit >= c->p->nbit ||
		    part_bit(c->p, c->bit++) != (word >> n & 1))
			return false;
	return true;
}

static inline bool part_has_record(struct part_check *c, const uint64_t *word,
				   size_t n)
{
	const struct trace_record *r = &c->p->record[c->record];

	return c->record++ < c->p->nrecord && r->at_bit == c->bit &&
	       r->kind == (word[0] & 0xff) && r->number == word[0] >> 16 &&
	       r->nword == n - 2 &&
	       (n == 2 || !memcmp(r->word, word + 2, (n - 2) * sizeof *word));
}

/* is the part what these n words say, and no more? */
static inline bool part_is(const struct trace_part *p, const uint64_t *word,
			   size_t n)
{
	struct part_check c = {.p = p};
	size_t size;

	for (size_t i = 0; i < n; i += size) {
		size = 1;
		if (word[i] >> 56) {
			if (!part_has_bits(&c, word[i]))
				return false;
			continue;
		}
		size += word[i] >> 8 & 0xff;
		if (!part_has_bits(&c, word[i + 1]) ||
		    !part_has_record(&c, word + i, size))
			return false;
	}
	for (uint64_t i = p->nbit; i < (p->nbit | 63) + 64 * TRACE_BITS_PAST;
	     i++)
		if (part_bit(p, i))
			return false;
	return c.bit == p->nbit && c.record == p->nrecord && !p->cut;
}

#endif
