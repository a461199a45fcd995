/*
 * spot: where in the new code an insertion goes.
 *
 * Code on an edge has to lie where nothing but that edge passes:
 *
 *	before it falls through     between the two blocks
 *	jump, return, ...           before the last instruction
 *	branch that is taken        a stub, to which the branch goes
 *	jump table, hub             a stub, to which entries of the copy lead
 *	landing pad                 a stub, in the new exception table, for
 *	                            that one call
 *	call from elsewhere         a stub, to which direct calls and jumps go
 *	arrival by old address      a stub, to which the trampoline goes
 *
 * Stubs lie behind the body of a part and end with a jump, or before the block
 * that they lead to (edge_code.h).
 */
#ifndef REWRITE_INSERT_SPOT_H
#define REWRITE_INSERT_SPOT_H

#include "rewrite/survey/survey.h"

enum spot_kind {
	SPOT_BEFORE, /* before the instruction at `at` */
	SPOT_FALL,   /* between the block that ends at `at` and what follows */
	/* stubs */
	SPOT_TAKEN, /* where the branch at `at` goes when taken */
	SPOT_TABLE, /* where a table's jump goes on edge number `at` */
	SPOT_HUB,   /* where jumps go by number `at` in cfg->hub_target */
	SPOT_PAD,   /* where an exception goes on edge number `at` */
	SPOT_ENTRY, /* where direct calls and jumps from elsewhere go that
			lead to the block at `at` */
	SPOT_INDIRECT_ENTRY, /* where the trampoline at `at` leads */
	SPOT_KINDS,
};

struct spot {
	uint8_t kind;	/* enum spot_kind */
	bool on_edge;	/* BEFORE: after code inserted on all ways there */
	uint64_t at;	/* see there; one spot per kind and number */
	uint64_t to;	/* stubs: the old address that they lead to */
	uint32_t block; /* the code lies in its part */
	uint32_t edge;	/* CFG_NONE: it is not on one of the cfg's */
};

/* fills *p; or why there is none, for people */
const char *spot_find(const struct survey *s, const struct insertion *i,
		      struct spot *p);
/* what code there has to keep */
struct live_set spot_live(const struct survey *s, const struct spot *p);
/* is code that accesses memory forbidden there? */
bool spot_exclusive(const struct survey *s, const struct spot *p);

/*
 * The number, in cfg->hub_target or among edges, of the way that the dispatch
 * takes to the target; the kind of spot is in *kind. CFG_NONE if it is none.
 */
uint32_t spot_way(const struct cfg *c, const struct dispatch *d,
		  uint64_t target, enum spot_kind *kind);
/* does the branch at the end of the block leave the procedure when taken? */
bool spot_leaves(const struct cfg *c, uint32_t block);

#endif
