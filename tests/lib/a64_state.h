/*
 * a64_state: what tests/tools/lift-a64 and tests/e2e/isa/a64-run tell each
 * other. lift-a64 makes trials, a64-run runs each on the machine (or under an
 * emulator) and answers with the state that the instruction left behind.
 *
 * A trial's code lies in its own slot, so that its address is known:
 *
 *	 0  the instruction under test
 *	 4  mov x27, #0; ret          it went on
 *	12  mov x27, #1; ret          it branched, 12 bytes ahead
 *	20  random bytes              for loads of literals
 */
#ifndef TESTS_A64_STATE_H
#define TESTS_A64_STATE_H

#include <stdint.h>

enum {
	A64_NREGS = 28,        /* x0 to x27; the others run the trial */
	A64_TAKEN = 27,        /* the register that tells if it branched */
	A64_SLOT = 64,         /* bytes per trial */
	A64_CODE = 0x50000000, /* address of the first slot */
	A64_DATA = 0x40000000, /* address of the memory that trials may use */
	A64_DATA_SIZE = 16384,
};

struct a64_trial {
	uint32_t slot[A64_SLOT / 4];
	uint64_t nzcv; /* in bits 31:28, as in the register */
	uint64_t x[A64_NREGS];
	uint64_t sp;
};

struct a64_result {
	uint64_t illegal; /* the machine does not have the instruction */
	uint64_t nzcv;
	uint64_t x[A64_NREGS];
	uint64_t sp;
	uint64_t data; /* a64_sum() of the memory afterwards */
};

/* what the memory at A64_DATA holds before a trial: byte i */
static inline uint8_t a64_data_byte(unsigned i)
{
	return (uint8_t)(i * 151u + (i >> 8) * 31u + 7u);
}

/* a checksum of `size` bytes */
static inline uint64_t a64_sum(const uint8_t *p, unsigned size)
{
	uint64_t sum = 14695981039346656037u, word;

	for (unsigned i = 0; i < size; i += 8) {
		__builtin_memcpy(&word, p + i, 8);
		sum = (sum ^ word) * 1099511628211u;
	}
	return sum;
}

#endif
