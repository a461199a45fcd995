/*
 * x64 poison: gives dead registers and flags other values.
 *
 *	mov $imm32, %rN		sign-extended, so that it is no address, not
 *				small, and negative in all widths; another one
 *				for each register
 *
 * Flags are changed by what changes just those that are dead: cmc for carry,
 * inc and dec of a dead register for all but carry, and a comparison of the
 * stack pointer with itself, or with -1, for all of them.
 */
#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

#include <string.h>

enum {
	ARITHMETIC = FLAG_N | FLAG_Z | FLAG_C | FLAG_V | FLAG_P | FLAG_A,
	BUT_CARRY = ARITHMETIC & ~FLAG_C,
	PATTERN = 0xbadcadad,
};

struct code {
	uint8_t *out;
	unsigned n;
};

static void put(struct code *c, const uint8_t *bytes, unsigned n)
{
	if (c->out)
		memcpy(c->out + c->n, bytes, n);
	c->n += n;
}

/* inc or dec: /0 and /1 of one opcode */
static void put_step(struct code *c, unsigned r, unsigned down)
{
	uint8_t b[3] = {(uint8_t)(0x48 | r >> 3), 0xff,
			(uint8_t)(0xc0 | down << 3 | (r & 7))};

	put(c, b, sizeof b);
}

static void put_flags(struct code *c, regset regs, uint8_t flags,
		      unsigned variant)
{
	static const uint8_t carry[1] = {0xf5};
	static const uint8_t same[3] = {0x48, 0x39, 0xe4};
	static const uint8_t above[4] = {0x48, 0x83, 0xfc, 0xff};

	if ((flags & ARITHMETIC) == ARITHMETIC)
		put(c, variant & 1 ? same : above,
		    variant & 1 ? sizeof same : sizeof above);
	else if (flags & FLAG_C)
		put(c, carry, sizeof carry);
	else if ((flags & BUT_CARRY) == BUT_CARRY && regs)
		put_step(c, (unsigned)__builtin_ctz(regs), variant & 1);
}

static void put_register(struct code *c, unsigned r)
{
	uint32_t value = PATTERN ^ r << 8;
	uint8_t b[7] = {(uint8_t)(0x48 | r >> 3), 0xc7,
			(uint8_t)(0xc0 | (r & 7))};

	memcpy(b + 3, &value, sizeof value);
	put(c, b, sizeof b);
}

unsigned x64_poison(regset regs, uint8_t flags, unsigned variant, uint8_t *out)
{
	struct code c = {.out = out};

	put_flags(&c, regs, flags, variant);
	for (unsigned r = 0; r < 16; r++)
		if (regs >> r & 1)
			put_register(&c, r);
	return c.n;
}
