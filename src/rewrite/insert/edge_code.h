/*
 * edge_code: stubs that lie before the block they lead to, and need no jump.
 *
 *	     block before           elsewhere:  ...
 *	     b    X                             b.ne lead
 *	lead:
 *	     code on the edge
 *	X:   ...
 *
 * There is room for one. Where control falls through to X from the block
 * before, that has to jump over the stub: so the plan says how often either
 * is expected. Where nothing falls through, the stub costs nothing.
 */
#ifndef REWRITE_INSERT_EDGE_CODE_H
#define REWRITE_INSERT_EDGE_CODE_H

#include "rewrite/insert/site.h"

struct edge_code {
	uint64_t to;   /* old address of the block */
	uint32_t stub; /* in sites->stub */
	float often;   /* its code is expected to run */
};

struct edge_codes {
	VEC(struct edge_code) lead; /* by `to`, one each */
};

/* chooses them, and marks their sites */
void edge_code_find(struct edge_codes *l, const struct survey *v,
		    struct sites *s);

#endif
