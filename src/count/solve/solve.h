/*
 * solve: from the values of an image's counters to how often every block and
 * edge ran, procedure by procedure, by the law of flow (flow/propagate.h).
 * What the counters do not tell is unknown, never guessed.
 *
 * A thread that ended in the middle of a block entered it and did not leave,
 * and did not run all of its instructions. Where that happened is given as a
 * list of endings (thread_exits.h); blocks count as run, instructions do not.
 */
#ifndef COUNT_SOLVE_SOLVE_H
#define COUNT_SOLVE_SOLVE_H

#include "count/map/map.h"

/* threads that ended at an instruction */
struct ending {
	uint64_t address; /* of the instruction, in the original */
	uint64_t count;	  /* how many */
	bool ran; /* they did run it, but did not go on from there */
};

struct endings {
	VEC(struct ending) v;
};

/* of a block, from one of its instructions on: that often it did not run */
struct lost_counts {
	uint32_t block; /* in the map */
	uint32_t from;	/* in the block, from 0; its ninsn: all ran */
	uint64_t count;
};

/*
 * What is inside of a procedure is there when it was asked for (solve_load());
 * of maps that are being drawn, always.
 */
struct solved {
	const struct map *m;
	const uint64_t *value; /* of counters */
	uint64_t *block, *edge; /* by number in the map */
	bool *block_known, *edge_known;
	/* MAP_ENTRY, but no call leads to that place: a jump that is not
	   understood does, by way of the old text */
	bool *arrival;
	uint64_t *calls; /* by procedure: how often it was called */
	bool *calls_known;
	bool *consistent; /* by procedure: false: all of it is unknown */
	uint64_t *insns;  /* by procedure: instructions that ran, as known */
	bool *insns_known; /* by procedure: there are no others */
	bool *ran;	  /* by procedure: some counter of it is not 0 */
	bool *idle;	  /* by procedure: all of it is known to be 0 */
	bool *here;	  /* by procedure: its blocks and edges are there */
	uint64_t *held;	  /* one: how many of those there are, about */
	struct lost_counts *lost_counts; /* by block */
	uint32_t nlost_counts;
	/* figures of the image (doc/report-json.md) */
	uint64_t instructions; /* executed, as far as known */
	uint64_t increments;   /* of counters */
	uint64_t redundant_increments; /* a counter per block would have made */
	uint32_t unknown_procs; /* with executed or unknown counts, not known */
	bool in_place; /* procedures that stay in place, of which nothing is
			  known, were called, or perhaps */
};

/*
 * Fills *s, in the arena; from running counters (PLACE_RUNNING) nothing is
 * known. value has m->ncounter numbers, which have to stay,
 * `endings` may be NULL: none. Those in code that is not measured mean nothing.
 */
void solve_counts(struct arena *a, const struct map *m, const uint64_t *value,
		  const struct endings *endings, struct solved *s);

/*
 * Turns to a procedure: what is inside of it is there from now on, in the map
 * and here. solve_load() lets what is there of others stay; solve_load_next()
 * forgets it when it has become much, so that one can turn to all of them, one
 * after the other.
 */
void solve_load(const struct solved *s, uint32_t proc);
void solve_load_next(const struct solved *s, uint32_t proc);

/*
 * Did a procedure go to code of its own that stays in place, or perhaps? What
 * ran there is not known. requires: solve_load()
 */
bool solved_stays(const struct solved *s, uint32_t proc);

/* how often instruction number i of a block ran, if that is known */
uint64_t solved_insn(const struct solved *s, uint32_t block, uint32_t i);
/* how many instructions ran in a block */
uint64_t solved_insns(const struct solved *s, const struct map *m,
		      uint32_t block);

#endif
