/*
 * map_calls: where in an image's counters the words are that its procedures
 * and call sites have, if these are seen (abi/calls.h). Procedures follow one
 * another:
 *
 *	active word | record of calls from outside | record of each call site
 *
 * Stubs of the linker have none.
 */
#ifndef COUNT_MAP_MAP_CALLS_H
#define COUNT_MAP_MAP_CALLS_H

#include "abi/calls.h"
#include "count/map/map.h"

/* may it be a call, or a jump to another procedure? */
static inline bool map_edge_calls(const struct map_proc *p,
				  const struct map_edge *e)
{
	return e->from < p->nblock &&
	       (e->kind == MAP_CALL || e->kind == MAP_NORETURN ||
		e->kind == MAP_TAIL);
}

/* the words of a procedure whose edges are given */
static inline uint32_t map_calls_words(const struct map_proc *p,
				       const struct map_edge *e,
				       uint32_t nevent)
{
	uint32_t words = 1 + call_record_words(nevent);

	if (p->stub)
		return 0;
	for (uint32_t i = 0; i < p->nedge; i++)
		if (map_edge_calls(p, &e[i]))
			words += call_record_words(nevent);
	return words;
}

#endif
