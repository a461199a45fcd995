/*
 * solve_int: what the files that solve share.
 *
 *	lost_counts.c	instructions that did not run
 *	solve_proc.c	one procedure
 *	solve.c		all, and which of them have their results in memory
 */
#ifndef COUNT_SOLVE_SOLVE_INT_H
#define COUNT_SOLVE_SOLVE_INT_H

#include "count/map/map_graph.h"
#include "count/solve/solve.h"

struct solver {
	const struct map *m;
	const uint64_t *value;
	const struct solved *s; /* whose arrays are filled */
	uint32_t lost_counts; /* the procedure's first in s->lost_counts */
	struct arena scratch; /* of one procedure */
	const struct callees *callees;
	const struct map_proc *p;
	uint32_t proc;
	uint32_t silent; /* up to this one all counters are 0 */
	uint32_t first;	 /* from this one on some were turned to, */
	uint64_t held;	 /* with so many blocks and edges */
};

/* fills in what falls short; those of no block of the map mean nothing */
void lost_counts_find(struct arena *a, const struct map *m,
		      const struct endings *endings, struct solved *s);
/* the first lost_counts of a block or those behind it */
uint32_t lost_counts_first(const struct solved *s, uint32_t block);
/* how many instructions did not run for that reason */
uint64_t lost_counts_insns(const struct solved *s, const struct map *m,
			   uint32_t i);

/* turns to procedure i */
void solve_at(struct solver *k, uint32_t i);
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

/*
 * stubs: how often the linker's stubs ran. They stay as they are, as unwinders
 * and debuggers know them by their bytes; but all calls of them are known.
 */

/* procedures from the first stub to behind the last: the linker's few pages */
struct stubs {
	size_t first, end;
};
struct stubs stubs_of(const struct map *m);

/* a procedure comes to a stub */
struct stub_call {
	uint32_t stub, proc;
	uint64_t count;
	bool known;
};

struct stub_calls {
	struct stubs stubs;
	VEC(struct stub_call) v;
};

/* adds those of a procedure, which has to be there */
void stub_calls_list(struct stub_calls *c, const struct solved *s,
		     uint32_t proc);
/* how often stubs were called, by one list of several */
void stub_calls_add(const struct stub_calls *c, struct solved *s);

/* what calls of a stub say is what its block and edges say */
void solve_stub(const struct solved *s, uint32_t proc);

#endif
