/* bit_coder: see bit_coder.h. */
#include "base/bit_coder.h"

#include <pthread.h>

enum { CODER_BYTES = 4 };

void coder_write(struct bit_coder *c, buffer *out)
{
	*c = (struct bit_coder){.out = out, .high = UINT32_MAX};
}

/* so many bytes tell all that follows from them: no more is read */
void coder_flush(struct bit_coder *c)
{
	for (unsigned i = 0; i < CODER_BYTES; i++) {
		buffer_uint(c->out, 1, c->low >> 24);
		c->low <<= 8;
	}
}

static uint8_t next_byte(struct bit_coder *c)
{
	if (c->at != c->end)
		return *c->at++;
	c->past++;
	return 0;
}

void coder_read(struct bit_coder *c, const void *bytes, size_t n)
{
	*c = (struct bit_coder){.at = bytes, .end = (const uint8_t *)bytes + n,
				.high = UINT32_MAX};
	for (unsigned i = 0; i < CODER_BYTES; i++)
		c->value = c->value << 8 | next_byte(c);
}

bool coder_is_sound(const struct bit_coder *c)
{
	return !c->past && c->at == c->end;
}

void coder_shift(struct bit_coder *c)
{
	if (c->out)
		buffer_uint(c->out, 1, c->high >> 24);
	else
		c->value = c->value << 8 | next_byte(c);
	c->low <<= 8;
	c->high = c->high << 8 | 0xff;
}

int16_t stretch_table[CHANCE_ONE];

/* a logistic curve by 33 points of it, 1/2 apart */
unsigned chance_squash(int x)
{
	static const uint16_t curve[33] = {
		1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101,
		1546, 2047, 2549, 2994, 3348, 3607, 3785, 3901, 3975, 4022,
		4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094};
	unsigned part = x & 127, at = (unsigned)(x >> 7) + 16;

	if (x >= 2047)
		return CHANCE_ONE - 1;
	if (x <= -2047)
		return 1;
	return (curve[at] * (128 - part) + curve[at + 1] * part + 64) >> 7;
}

/* the inverse of that */
static void make_stretch(void)
{
	unsigned chance = 0;

	for (int x = -2047; x <= 2047; x++)
		for (unsigned most = chance_squash(x); chance <= most; chance++)
			stretch_table[chance] = (int16_t)x;
	for (; chance < CHANCE_ONE; chance++)
		stretch_table[chance] = 2047;
}

void mixer_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_stretch);
}
