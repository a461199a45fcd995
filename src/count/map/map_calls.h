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

/* how many edges of the procedure, which are given, call */
static inline uint32_t map_count_calls(const struct map_proc *p,
				       const struct map_edge *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nedge; i++)
		n += map_edge_calls(p, &e[i]);
	return n;
}

/* the words of a procedure of the map; *x is for a look inside */
static inline uint32_t map_calls_words(const struct map *m, uint32_t proc,
				       uint32_t nevent, struct map_inside *x)
{
	const struct map_proc *p = &m->proc.at[proc];
	uint32_t n = p->ncall;

	if (p->stub)
		return 0;
	if (!m->store || n == MAP_NONE) {
		map_look(m, proc, x);
		n = map_count_calls(p, x->edge);
	}
	return 1 + (1 + n) * call_record_words(nevent);
}

#endif
