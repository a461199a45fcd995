/* dispatch_int: what dispatch.c, settle.c and judge.c share. */
#ifndef CFG_DISPATCH_INT_H
#define CFG_DISPATCH_INT_H

#include "cfg/range.h"
#include "cfg/table.h"
#include "cfg/value.h"

/* targets of a procedure's jumps together; beyond, they are not understood */
enum { TARGETS_MAX = 4000000 };

/* where a table starts, and what is added to its entries */
struct table_start {
	uint64_t address, base;
};

/* a procedure under work */
struct work {
	struct build *b;
	uint32_t rep;	/* representative piece */
	const uint32_t *piece;
	uint32_t npiece;
	uint32_t entry;
	struct body body;
	struct view view;
	struct values values;
	VEC(uint64_t) target; /* of the jump at hand */
	VEC(uint64_t) wanted; /* entries that lead to no known code yet */
	size_t targets; /* of all jumps, in the look at hand */
	bool grown; /* the jump at hand is in code found by descent: what
		       only tables lead to may not be known */
	const struct table_start *start; /* of known tables, by address */
	size_t nstart;
	unsigned depth; /* limit of recursion */
	bool cautious; /* those are not known yet: see work_take_entries() */
	uint32_t block; /* whose jump is judged */
	bool waits; /* it may have more targets once more blocks are known */
	VEC(uint32_t) lead; /* offsets that edges found by a look lead to */
};

/* what was found out about one way to the jump */
struct finding {
	enum dispatch_status status;
	unsigned ways;	/* that lead to the jump with a target of their own */
	bool checked;	/* a comparison bounds the index */
	const char *reason;
	struct table table;
	uint64_t count;
	uint64_t last;	/* index of the last entry there may be */
};

/* --- judge.c */
/*
 * Judges the jump that ends a block of the view; targets in w->target, not
 * all of them if they are more than TARGETS_MAX.
 */
void work_judge(struct work *w, struct finding *f, uint32_t block);
/*
 * Takes entries while they lead into the procedure; returns how many. As
 * long as it is not known where other tables start, what follows may be one
 * of them, and its entries lead anywhere: then an entry is taken only if it
 * leads to where a block starts anyway.
 */
uint64_t work_take_entries(struct work *w, const struct table *t,
			   uint64_t first, uint64_t last);
/*
 * Where the next known table above addr starts that is certainly another than
 * one with this base, or UINT64_MAX. With the same base, what starts there may
 * be a part of it that some jump uses for itself.
 */
uint64_t work_next_table(const struct work *w, uint64_t addr, uint64_t base);

/* --- entry_load.c */
/* d->load and what belongs to it, of the finding for the block at hand */
void work_find_load(struct work *w, const struct finding *f,
		    struct dispatch *d);

/* --- settle.c */
/*
 * Resolves the indirect jumps of one procedure. Only the second time is it
 * known which pointers the tables account for.
 */
void work_settle(struct work *w, bool second);
/* forgets what was found of the procedure's jumps */
void work_forget(struct work *w);
/* the procedure has an indirect jump */
bool work_has_jump(const struct work *w);
/* what was found may look better now that it is known where tables start */
bool work_deserves_more(struct work *w);

#endif
