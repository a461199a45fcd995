/*
 * solve_int: what the files that solve share.
 *
 *	solve_proc.c	one procedure
 *	lost_counts.c	which of them have their results in memory
 *	solve.c		all
 */
#ifndef COUNT_SOLVE_SOLVE_INT_H
#define COUNT_SOLVE_SOLVE_INT_H

#include "count/solve/solve.h"

struct callees;

struct solver {
	const struct map *m;
	const uint64_t *value;
	const struct solved *s; /* whose arrays are filled */
	uint32_t
		lost_counts; /* the first of this procedure in s->lost_counts */
	struct arena scratch; /* of one procedure */
	struct map_inside inside; /* of one that is looked at */
	const struct callees *callees;
	const struct map_proc *p;
	uint32_t proc;
	uint32_t silent; /* up to this one all counters are 0 */
	uint32_t first;	 /* from this one on some were turned to, */
	uint64_t held;	 /* with so many blocks and edges */
};

/* turns to procedure i */
void solve_at(struct solver *k, uint32_t i);
/* whether every circle has a counter: vertices go when nothing arrives */
bool solve_counts_all_circles(struct solver *k);
/* whether its counters say that nothing ran; requires: s->ran is right */
bool solve_is_idle_proc(struct solver *k);
/* all of it, but of a stub nothing */
void solve_proc(struct solver *k);
/* nothing of the procedure ran; all counts are 0 already */
void solve_nothing_ran(struct solver *k);
/* whether lost_counts i is one of the procedure's blocks */
bool solve_falls_short(const struct solver *k, uint32_t i);
/* nothing is known of the procedure after all */
void solve_forget(struct solver *k);
/* nor of its blocks and edges; requires: they are there */
void solve_forget_inside(struct solver *k);

/* memory of the procedure's results may be used */
void solve_recall(const struct solved *s, const struct map_proc *p);
/* what is inside of procedures from .. end-1 is not needed any more */
void solve_drop(const struct solved *s, uint32_t from, uint32_t end);
/*
 * Turns to the inside of procedure k->proc, whose blocks, edges and results may
 * be used then, in the map and here; drops those of procedures before it that
 * were turned to, if they are many. At the end: solve_drop_last().
 */
void solve_open_next(struct solver *k);
void solve_drop_last(struct solver *k);

#endif
