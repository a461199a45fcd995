/*
 * bit_coder: bits in about as many as they are worth: an adaptive binary
 * arithmetic coder, and what predicts its bits.
 *
 * A predictor is told of the bits that came in like contexts by counters, each
 * of which says how likely a one is, and mixes these: the ones that were right
 * where it mattered weigh more (Mahoney, "Adaptive weighing of context models
 * for lossless data compression", 2005). All is done in integers, so that it is
 * the same on every machine.
 *
 * One function codes both ways: what it returns is the bit, that it was given
 * or that it has read. So a model is written once.
 *
 *	coder_write(&c, out); ... code_bit(&c, bit, chance); coder_flush(&c);
 *	coder_read(&c, bytes, n); bit = code_bit(&c, 0, chance);
 */
#ifndef BASE_BIT_CODER_H
#define BASE_BIT_CODER_H

#include <stdbool.h>

#include "base/buffer.h"

enum {
	CHANCE_BITS = 12, /* of a one: 0 to CHANCE_ONE */
	CHANCE_ONE = 1 << CHANCE_BITS,
};

struct bit_coder {
	buffer *out; /* NULL: it reads */
	const uint8_t *at, *end;
	uint32_t low, high, value;
	unsigned past; /* bytes that were read behind the end */
};

void coder_write(struct bit_coder *c, buffer *out);
/* what was coded is in `out` */
void coder_flush(struct bit_coder *c);
void coder_read(struct bit_coder *c, const void *bytes, size_t n);
/* whether what was read was there */
bool coder_is_sound(const struct bit_coder *c);
/* a byte goes out, or comes in */
void coder_shift(struct bit_coder *c);

/* chance: of a one, 1 to CHANCE_ONE - 1 */
static inline bool code_bit(struct bit_coder *c, bool bit, unsigned chance)
{
	uint32_t middle = c->low + ((c->high - c->low) >> CHANCE_BITS) * chance;

	if (!c->out)
		bit = c->value <= middle;
	if (bit)
		c->high = middle;
	else
		c->low = middle + 1;
	while (!((c->low ^ c->high) >> 24))
		coder_shift(c);
	return bit;
}

/* --- counters: how likely a one is, the highest 12 bits; how often it was
   asked, the lowest 4 */
enum { COUNTER_NEW = CHANCE_ONE / 2 << 4 };

static inline unsigned counter_chance(uint16_t c)
{
	return c >> 4;
}

/* it adapts the slower the more it has seen, but for the slowest */
static inline uint16_t counter_learn(uint16_t c, bool bit, unsigned slowest)
{
	static const uint8_t rates[16] = {1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5,
					  6, 6, 7, 7};
	unsigned chance = c >> 4, seen = c & 15, rate = rates[seen];

	rate = rate < slowest ? rate : slowest;
	if (bit)
		chance += (CHANCE_ONE - 1 - chance) >> rate;
	else
		chance -= chance >> rate;
	return (uint16_t)(chance << 4 | (seen + (seen < 15)));
}

/* --- mixing */
enum { MIXER_INPUTS = 8, WEIGHT_ONE = 1 << 16 };

/* to be called before predictions are mixed */
void mixer_prepare(void);
/* ln(p / (1 - p)) of a chance, in 256ths: -2047 to 2047 */
extern int16_t stretch_table[CHANCE_ONE];
static inline int chance_stretch(unsigned chance)
{
	return stretch_table[chance];
}
/* and back; 1 to CHANCE_ONE - 1 */
unsigned chance_squash(int x);

struct mixer {
	int input[MIXER_INPUTS]; /* stretched chances */
	unsigned chance; /* that it has told last */
};

/* of n inputs, a constant */
static inline unsigned mixer_chance(struct mixer *m, unsigned n,
				    const int32_t *weight)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (int64_t)weight[i] * m->input[i];
	sum >>= 16;
	m->chance = chance_squash(sum > 2047  ? 2047 :
				  sum < -2047 ? -2047 : (int)sum);
	return m->chance;
}

/* the bit was that: those weigh more that have said so */
static inline void mixer_learn(const struct mixer *m, unsigned n,
			       int32_t *weight, bool bit)
{
	enum { RATE = 6, SHIFT = 14, MOST = 1 << 26 };
	int wrong = ((int)bit << CHANCE_BITS) - (int)m->chance;

	for (unsigned i = 0; i < n; i++) {
		int32_t w = weight[i] + ((m->input[i] * wrong * RATE +
					  (1 << (SHIFT - 1))) >> SHIFT);

		weight[i] = w > MOST ? MOST : w < -MOST ? -MOST : w;
	}
}

#endif
