/*
 * placing: the counters of some of an image's procedures, and what the map says
 * of these. Procedures know nothing of each other, so that threads may place
 * some each; all numbers begin with 0, and what was placed is put together in
 * order.
 */
#ifndef COUNT_PLACING_H
#define COUNT_PLACING_H

#include "count/map.h"
#include "hooks/hooks.h"
#include "rewrite/survey.h"

struct count_options;

struct placing {
	struct map map; /* what describes procedures; strings in its arena */
	VEC(struct insertion) insertion;
	VEC(uint32_t) counter; /* by insertion */
	VEC(struct hooks_jump) told; /* sites that are, as in the map */
	bool takes_slot; /* code was seen that does (isa/move.h) */
};

/* procedures `from` to `end` of the survey's cfg; sure: as struct drawing's */
void placing_make(struct placing *n, const struct survey *s,
		  const struct count_options *o, const bool *sure,
		  uint32_t from, uint32_t end);
/* *n behind *all; only strings are left in *n, and stay in use */
void placing_append(struct placing *all, struct placing *n);

#endif
