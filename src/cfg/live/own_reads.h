/*
 * own_reads: which registers a procedure's own code reads later.
 *
 * Unlike live.h this does not look into callees, nor at conventions: it asks
 * for values that can mean something in this procedure alone, such as the
 * target of a jump or the base of a table. What callees read of them by
 * chance (a variadic procedure saves all argument registers) has no meaning.
 * Behind a call nothing is read of what the callee certainly changes. Low bytes
 * are followed for themselves: code that sets one, and reads that one later,
 * has not read what the register held before.
 */
#ifndef CFG_LIVE_OWN_READS_H
#define CFG_LIVE_OWN_READS_H

#include "cfg/live/live.h"

/* registers of which the low byte, or the rest, is read */
struct read_set {
	regset low, rest;
};

struct own_reads {
	const struct live *live;
	const struct cfg *c;
	/* by block, of the procedures that were asked for */
	struct read_set *in;
	struct read_set *hub; /* by hub */
	bool *known; /* by procedure */
};

void own_reads_init(struct own_reads *o, const struct live *l);
void own_reads_free(struct own_reads *o);
/* what may be read behind the block, which is asked of its procedure */
regset own_reads_behind(struct own_reads *o, uint32_t block);
/* what may be read from the block on */
regset own_reads_from(struct own_reads *o, uint32_t block);

#endif
