/*
 * live: which registers and flags later code may still read, at any place of
 * the code. What is not live is dead: inserted code may change it.
 *
 * An answer "dead" that is wrong breaks programs. The rules, from what is seen
 * to what has to be assumed (doc/how-cfg-works.md, "What is dead"):
 *
 *   - A call of a procedure of this image reads what the callee, its callees
 *     and so on read before writing it. What is live behind the call is live
 *     before it, unless the callee or its callees change it on every way to
 *     a return. So arguments that are handed through, values that gcc keeps
 *     in scratch registers across calls of functions that do not touch them
 *     (-fipa-ra), outline atomics and the agreements of hand-written code
 *     need no rules of their own.
 *   - At a return, what is read behind any direct call of the procedure is
 *     live, and so are results, and what the procedure and its callees leave
 *     as it is on some way, or save and restore: callers that are not seen
 *     may rely on it.
 *   - Calls through pointers and of other images follow a convention: they
 *     read the argument registers, and lose what all conventions lose
 *     (isa->lost_by_call), but for what is read behind the call: that the
 *     callee keeps, by an agreement that is not seen. TLS descriptors are
 *     known to keep everything.
 *   - A landing pad gets what the unwinder sets; scratch registers that it
 *     reads beyond that are live at the call.
 *   - Everything is live where it is not known where control goes: at indirect
 *     jumps that are no tables, at calls of code that has no blocks, at returns
 *     to an address that the procedure itself has made.
 *
 * Callee-saved registers, the stack pointer, the platform's register and the
 * return address may come out as dead, but live_scratch() never offers them:
 * unwinders and debuggers read them. The direction flag is always live.
 *
 * Not covered: vector registers; signal handlers that look at the registers
 * of the place that they interrupt; callees of other images that read more
 * than argument registers.
 */
#ifndef CFG_LIVE_LIVE_H
#define CFG_LIVE_LIVE_H

#include "cfg/cfg.h"

struct live_set {
	regset regs;
	uint8_t flags; /* FLAG_ bits */
};

struct effect_cut;

struct live {
	const struct cfg *cfg;
	/* of long blocks, see live_int.h */
	struct effect_cut *cut;
	size_t ncut;
	/* by block, see live_int.h: before it, and behind its last
	   instruction, where a callee begins if that is a call */
	uint64_t *in, *out;
	/* by block, must: scratch registers whose values before the call at
	   its end are neither read in the callee nor there behind it */
	regset *lost;
};

/* the cfg must outlive the result */
void live_build(struct live *l, const struct cfg *c);
void live_free(struct live *l);

/*
 * What is live before the instruction at addr, which block holds. The
 * block's end stands for the place behind its last instruction: before the
 * callee, where that is a call.
 */
struct live_set live_before(const struct live *l, uint32_t block,
			    uint64_t addr);
/*
 * What is live on an edge: behind the instruction that it leaves and, for
 * EDGE_AFTER, behind the callee; before the block that it leads to.
 */
struct live_set live_on_edge(const struct live *l, uint32_t edge);

/* the registers that code at a place with these live ones may overwrite */
static inline regset live_scratch(const struct isa *isa, struct live_set s)
{
	return isa->scratch & ~s.regs;
}

#endif
