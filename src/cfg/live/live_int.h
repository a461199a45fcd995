/*
 * live_int: what the files of live share.
 *
 *	effect.c   what a block reads before it writes it, and what it writes
 *	calls.c    which procedure calls which; from where control comes to a
 *	           block
 *	live.c     the data flow
 *
 * Every set is an approximation, and says on which side it errs: "may" sets
 * are never too small, "must" sets never too large. What is live is a may
 * set; a may set may stand where a smaller set is exact, but only where more
 * is live for it.
 */
#ifndef CFG_LIVE_LIVE_INT_H
#define CFG_LIVE_LIVE_INT_H

#include "cfg/cfg.h"

/*
 * Registers and flags, and how well it is known that they are read later:
 *
 *	63   57 56             39 38   32 31                    0
 *	[ flags| registers 17..0 | flags | registers 31 .. 0     ]
 *	 may be read (a guess)    seen to be read by the code
 *
 * The code that may read a guess is not seen; the calling convention decides:
 * argument registers are live at a call whose callee is not seen, results at
 * a return, everything at a jump that is not understood. A guess is dead again
 * before a call that changes it. What is seen to be read is not: if it is
 * live behind a call, callee and caller have an agreement of their own.
 */
typedef uint64_t places;

enum { PLACES_FLAGS = 32, PLACES_GUESS = 39, PLACES_GUESS_FLAGS = 57 };

/* whatever is seen to be read */
#define PLACES_SEEN (((places)1 << PLACES_GUESS) - 1)

/* registers and flags that are read */
static inline places places_seen(regset regs, uint8_t flags)
{
	return regs | (places)flags << PLACES_FLAGS;
}

/* scratch registers and flags that code which is not seen may read */
static inline places places_guess(regset regs, uint8_t flags)
{
	/* struct isa's scratch registers are among the first 18 */
	return (places)(regs & 0x3ffff) << PLACES_GUESS |
	       (places)flags << PLACES_GUESS_FLAGS;
}

/* registers and flags, whatever makes them live */
static inline places places_any(regset regs, uint8_t flags)
{
	return places_seen(regs, flags) | places_guess(regs, flags);
}

/* what is live where control goes to an unknown place */
static inline places places_unknown(const struct isa *isa)
{
	return places_seen(~isa->scratch, 0) |
	       places_guess(isa->scratch, FLAG_ALL);
}

/*
 * What Go's functions are entered and left with: arguments and results are in
 * any register but those of veneers, which its linker inserts, too (ABIInternal
 * in Go's documents). Flags pass through some (runtime.duffzero), which are
 * seen where they are called.
 */
static inline places places_go(const struct isa *isa)
{
	return places_seen(~isa->scratch, 0) |
	       places_guess(isa->scratch & ~isa->veneer_scratch, 0);
}

/*
 * What may pass through a call by the convention unchanged (may: larger is
 * safe). Scratch registers that are seen to be read behind it are kept by an
 * agreement that the code does not show: a call in inline assembly with a
 * short list of clobbers (OpenJDK's atomics). So are those that some convention
 * keeps.
 */
static inline places places_by_rules(const struct isa *isa)
{
	return ~places_guess(isa->lost_by_call, FLAG_ALL);
}

/* --- effect.c */

/* of one block, or the rest of one */
struct effect {
	places reads;  /* may: whose value at the beginning is read */
	places writes; /* must: whose value at the beginning is gone at the
			  end */
};

/* a place in a long block, and the rest of the block from there on */
struct effect_cut {
	uint32_t block;
	uint64_t addr;
	struct effect rest;
};

/* of one block */
struct saves {
	/* may: stored in the frame with a value that the block did not
	   compute */
	regset saved;
	regset restored; /* may: loaded from the frame */
	regset computed; /* must: changed by anything but that */
};

/* block k from the instruction at addr on; s may be NULL */
struct effect effect_from(const struct cfg *c, const struct block *k,
			  uint64_t addr, struct saves *s);
/* the instructions of block k from one to another, which is not the last */
struct effect effect_between(const struct cfg *c, const struct block *k,
			     uint64_t from, uint64_t to);
/* one behind the other */
static inline struct effect effect_join(struct effect a, struct effect b)
{
	return (struct effect){.reads = a.reads | (b.reads & ~a.writes),
			       .writes = a.writes | b.writes};
}

/*
 * Cuts through all blocks that are so long (codecs have some of 10,000
 * instructions) that walks to their ends take time, by block and address; in
 * each of them one is at the last instruction. To be freed
 */
struct effect_cut *effect_cuts(const struct cfg *c, size_t *n);
/* fills both, by block */
void effect_all(const struct cfg *c, struct effect *effect,
		struct saves *saves);

/* --- calls.c */

#define CALLEE_NONE CFG_NONE /* no call, and no jump to elsewhere */
#define CALLEE_BY_RULES (CFG_NONE - 1) /* unknown, keeps the convention */
#define CALLEE_KEEPING (CFG_NONE - 2) /* unknown, but keeps all registers */
#define CALLEE_STUB (CFG_NONE - 3) /* by the convention, through a PLT stub */
#define CALLEE_POINTER (CFG_NONE - 4) /* a jump through a pointer */
#define CALLEE_UNSEEN (CFG_NONE - 5) /* code that has no blocks */
#define CALLEE_GO (CFG_NONE - 6) /* by a pointer of Go */

/* a callee that is a block */
static inline bool callee_seen(uint32_t callee)
{
	return callee < CALLEE_GO;
}

/* known by the convention alone */
static inline bool callee_by_rules(uint32_t callee)
{
	return callee == CALLEE_BY_RULES || callee == CALLEE_STUB ||
	       callee == CALLEE_POINTER;
}

struct calls {
	/* by block: where its call or jump to elsewhere goes */
	uint32_t *callee;
	/* the procedures that p calls: to[first[p] .. first[p + 1] - 1] */
	uint32_t *first, *to;
	/* and those that call p */
	uint32_t *caller_first, *caller;
	uint32_t *order; /* all procedures, callees first where possible */
};

void calls_find(struct calls *s, const struct cfg *c);
void calls_free(struct calls *s);
/* where the EDGE_TAIL e goes: like callee[] */
uint32_t calls_tail(const struct calls *s, const struct cfg *c, uint32_t e);

/* from[first[k] .. first[k + 1] - 1] of block k, or of hub k - block.n */
struct origins {
	uint32_t *first, *from;
};
void origins_find(struct origins *o, const struct cfg *c);
void origins_free(struct origins *o);

#endif
