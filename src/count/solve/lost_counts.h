/*
 * lost_counts: a thread that ended in the middle of a block did not run the
 * rest of its instructions. Which blocks fall short, from which instruction on,
 * and how often.
 */
#ifndef COUNT_SOLVE_LOST_COUNTS_H
#define COUNT_SOLVE_LOST_COUNTS_H

#include "count/solve/solve.h"

/* fills in what falls short; those of no block of the map mean nothing */
void lost_counts_find(struct arena *a, const struct map *m,
		      const struct endings *endings, struct solved *s);
/* the first lost_counts of a block or those behind it */
uint32_t lost_counts_first(const struct solved *s, uint32_t block);
/* how many instructions did not run for that reason */
uint64_t lost_counts_insns(const struct solved *s, const struct map *m,
			   uint32_t i);

#endif
