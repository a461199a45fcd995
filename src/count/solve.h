/*
 * solve: from the values of an image's counters to how often every block and
 * edge ran, procedure by procedure, by the law of flow (flow/propagate.h).
 * What the counters do not tell is unknown, never guessed.
 */
#ifndef COUNT_SOLVE_H
#define COUNT_SOLVE_H

#include "count/map.h"

struct solved {
	uint64_t *block, *edge; /* by number in the map */
	bool *block_known, *edge_known;
	uint64_t *calls; /* by procedure: how often it was entered */
	bool *calls_known;
	bool *consistent; /* by procedure: false: all of it is unknown */
	/* figures of product.md */
	uint64_t instructions; /* executed, as far as known */
	uint64_t increments;   /* of counters */
	uint64_t redundant_increments; /* a counter per block would have made */
	uint32_t unknown_procs; /* with executed or unknown counts, not told */
};

/* fills *s, in the arena; value has m->ncounter numbers */
void solve_counts(struct arena *a, const struct map *m, const uint64_t *value,
		  struct solved *s);

/*
 * For those who solve the same map many times: by procedure, whether nothing
 * of it ran if all its counters are 0. In the arena.
 */
const bool *solve_complete(struct arena *a, const struct map *m);
/* the same as solve_counts(), faster */
void solve_counts_again(struct arena *a, const struct map *m,
			const bool *complete, const uint64_t *value,
			struct solved *s);

#endif
