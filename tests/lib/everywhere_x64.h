/*
 * everywhere_x64: what everywhere.h inserts, for x86-64. Registers are scratch
 * ones, so that none needs more than a plain address byte.
 */
#ifndef TESTS_EVERYWHERE_X64_H
#define TESTS_EVERYWHERE_X64_H

enum {
	EVERYWHERE_X64_COUNT = 7 + 3 + 4 + 3,
	EVERYWHERE_X64_GARBAGE = 7,
	EVERYWHERE_X64_FLAGS = 3,
};

static inline unsigned everywhere_x64_size(void *ctx,
					   const struct insertion *i,
					   const struct scratch *s)
{
	unsigned size = EVERYWHERE_X64_GARBAGE * (unsigned)i->nregs;

	(void)ctx;
	(void)s;
	if (i->memory)
		size += EVERYWHERE_X64_COUNT;
	return size + (i->flags ? EVERYWHERE_X64_FLAGS : 0u);
}

/* REX.W, an opcode and registers, or memory that the second one points to */
static inline uint8_t *everywhere_x64_op(uint8_t *out, unsigned op,
					 unsigned mod, unsigned reg,
					 unsigned rm)
{
	out[0] = (uint8_t)(0x48 | reg >> 3 << 2 | rm >> 3);
	out[1] = (uint8_t)op;
	out[2] = (uint8_t)(mod << 6 | (reg & 7) << 3 | (rm & 7));
	return out + 3;
}

static inline uint8_t *everywhere_x64_word(uint8_t *out, uint32_t w)
{
	memcpy(out, &w, sizeof w);
	return out + sizeof w;
}

/* lea counter(%rip), a; mov (a), b; lea 1(b), b; mov b, (a) */
static inline uint8_t *everywhere_x64_count(uint8_t *out, unsigned a,
					    unsigned b, uint64_t distance)
{
	out = everywhere_x64_op(out, 0x8d, 0, a, 5);
	out = everywhere_x64_word(out, (uint32_t)distance);
	out = everywhere_x64_op(out, 0x8b, 0, b, a);
	out = everywhere_x64_op(out, 0x8d, 1, b, b);
	*out++ = 1;
	return everywhere_x64_op(out, 0x89, 0, b, a);
}

static inline bool everywhere_x64_write(void *ctx, const struct insertion *i,
					const struct scratch *s, uint64_t addr,
					const struct plan_bases *bases,
					uint8_t *out)
{
	uint64_t distance = bases->data + 8 * (uint64_t)i->code - addr - 7;

	(void)ctx;
	if ((int64_t)distance != (int32_t)distance)
		return false;
	if (i->memory)
		out = everywhere_x64_count(out, s->reg[0], s->reg[1],
					   distance);
	for (unsigned r = 0; r < i->nregs; r++) {
		out = everywhere_x64_op(out, 0xc7, 3, 0, s->reg[r]);
		out = everywhere_x64_word(out, EVERYWHERE_GARBAGE);
	}
	if (i->flags) /* neg: borrow and sign */
		everywhere_x64_op(out, 0xf7, 3, 3, s->reg[0]);
	return true;
}

#endif
