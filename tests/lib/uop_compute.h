/*
 * uop_compute: what an arithmetic uop computes, by isa/uop.h, for tests that
 * run uops beside a real processor.
 */
#ifndef TESTS_UOP_COMPUTE_H
#define TESTS_UOP_COMPUTE_H

#include <stdint.h>
#include <stdlib.h>

#include "isa/uop.h"

/* v modulo 2^width */
static inline uint64_t truncate_to(uint64_t v, unsigned width)
{
	return width >= 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

/* the low `bits` of v, sign-extended */
static inline int64_t sign_extend(uint64_t v, unsigned bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* the value on operands that are cut to the uop's width, not cut itself */
static inline uint64_t uop_compute(const struct uop *u, uint64_t a,
				   uint64_t b)
{
	switch (u->code) {
	case UOP_COPY:
		return a;
	case UOP_ADD:
		return a + b;
	case UOP_SUB:
		return a - b;
	case UOP_AND:
		return a & b;
	case UOP_OR:
		return a | b;
	case UOP_XOR:
		return a ^ b;
	case UOP_MUL:
		return a * b;
	case UOP_SHL:
		return a << b;
	case UOP_SHR:
		return a >> b;
	case UOP_SAR:
		return (uint64_t)(sign_extend(a, u->width) >> b);
	case UOP_ZEXT:
		return truncate_to(a, u->size);
	case UOP_SEXT:
		return (uint64_t)sign_extend(a, u->size);
	default:
		abort(); /* not arithmetic */
	}
}

#endif
