/*
 * slice: by what the addresses of a block's accesses are computed when a trace
 * is replayed (the "slices" of Larus '90, abstract execution): which values of
 * registers the trace has, what the block computes from them, and its accesses.
 * What leads to no address is left out.
 *
 * A procedure's slices, as they lie in the map (map_slices()): of each block
 * its operations, in the order in which they are executed, and SLICE_END; then
 * how many edges have values, and of each its number, less that of the last
 * one, and its values, as operations, and SLICE_END. All numbers are LEB128.
 *
 *	SLICE_SKIP	n	what follows is about the n-th instruction from
 *				here
 *	SLICE_VALUE	reg	is the next value of the thread's trace, of so
 *				many bytes
 *	SLICE_ACCESS		an access, by registers as they are now
 *	SLICE_BLOCK		an access of a whole block (ACCESS_BLOCK)
 *	SLICE_SET		a register gets what a micro-operation computes,
 *				or SLICE_THREAD
 *	SLICE_LOSE	reg	has a value that is not known
 */
#ifndef TRACE_SLICE_SLICE_H
#define TRACE_SLICE_SLICE_H

#include "base/buffer.h"
#include "base/bytes.h"
#include "isa/access.h"
#include "isa/uop.h"

enum slice_code {
	SLICE_END,
	SLICE_SKIP,
	SLICE_VALUE,
	SLICE_ACCESS,
	SLICE_SET,
	SLICE_LOSE,
	SLICE_BLOCK,
};

/* the register that says how often ACCESS_STRING is done: rcx */
enum { SLICE_COUNT = 1 };

/* what a SET may copy beside registers and constants: what variables of the
   thread are found by */
enum { SLICE_THREAD = 253 };

struct slice_op {
	uint8_t code; /* enum slice_code */
	uint8_t reg;  /* VALUE, LOSE */
	uint8_t size; /* VALUE: 1, 2, 4 or 8 */
	/* ACCESS, BLOCK, SET: what a constant is is an address of the image, to
	   which is added where that is in the process */
	bool relative;
	uint32_t skip; /* SKIP */
	union {
		struct access access; /* ACCESS, BLOCK */
		struct uop uop;	      /* SET */
	};
};

void slice_put(buffer *b, const struct slice_op *x);
/* false: there is none that is right */
bool slice_take(struct bytes *b, struct slice_op *x);

/* does replay know how to compute it, given its operands? */
bool slice_computes(const struct uop *u);
/* requires: slice_computes(); a and b are its operands, or what stands for
   them */
uint64_t slice_compute(const struct uop *u, uint64_t a, uint64_t b);

#endif
