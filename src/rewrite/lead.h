/*
 * lead: stubs of taken branches that lie before the block they lead to.
 *
 *	     fall-through            body:    ...
 *	     b    X                           ...
 *	lead:                                 b.ne lead
 *	     code on the edge
 *	X:   ...
 *
 * Such a stub needs no jump to X. Only one can be there. If control falls
 * through to X from the block before, that has to jump over the stub; so it is
 * only worth it where the branch goes back, to the head of a loop.
 */
#ifndef REWRITE_LEAD_H
#define REWRITE_LEAD_H

#include "rewrite/site.h"

/* a stub of kind SPOT_TAKEN before its block */
struct lead {
	uint64_t to;   /* old address of the block */
	uint32_t site; /* in sites->at[SPOT_TAKEN] */
	bool over;     /* who falls through jumps over it */
};

struct leads {
	VEC(struct lead) lead; /* by `to`, one each */
};

/* chooses them, and marks their sites */
void leads_find(struct leads *l, const struct survey *v, struct sites *s);
/* could the stub of the branch that ends the block be one? */
bool lead_fits(const struct cfg *c, uint32_t block);

#endif
