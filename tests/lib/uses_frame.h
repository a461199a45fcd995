/*
 * uses_frame: whether an instruction's micro-operations keep struct isa's
 * promise about uses_frame().
 */
#ifndef TESTS_USES_FRAME_H
#define TESTS_USES_FRAME_H

#include "isa/isa.h"
#include "isa/uop.h"

/* sp and fp, and temporaries that hold something made of them */
static inline bool frame_tainted(uint64_t taint, unsigned operand)
{
	return operand < UOP_NREGS && taint >> operand & 1;
}

/*
 * True if some micro-operation writes sp or fp, or passes on what they hold
 * by anything but the address of an access.
 */
static inline bool lift_uses_frame(const struct isa *isa, const struct uop *u,
				   unsigned n)
{
	uint64_t frame = (uint64_t)1 << isa->sp | (uint64_t)1 << isa->fp;
	uint64_t taint = frame;

	for (unsigned i = 0; i < n; i++, u++) {
		bool from = frame_tainted(taint, u->a) ||
			    frame_tainted(taint, u->b);

		if (u->code == UOP_STORE) {
			if (frame_tainted(taint, u->b))
				return true;
			continue;
		}
		if (u->code == UOP_LOAD)
			from = false;
		if (u->dst >= UOP_NREGS || u->dst == UOP_FLAGS)
			continue;
		if (frame >> u->dst & 1)
			return true;
		if (u->dst < UOP_TMP0 && from)
			return true;
		taint &= ~((uint64_t)1 << u->dst);
		taint |= (uint64_t)from << u->dst;
	}
	return false;
}

/* the same, or the instruction reads them for a purpose that is not told */
static inline bool insn_uses_frame(const struct isa *isa,
				   const struct insn *i, const struct uop *u,
				   unsigned n)
{
	regset frame = (regset)1 << isa->sp | (regset)1 << isa->fp;

	return lift_uses_frame(isa, u, n) ||
	       (i->reads & frame && !i->mem_read && !i->mem_write &&
		(i->writes || i->vector));
}

#endif
