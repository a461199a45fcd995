/* dispatch_int: what dispatch.c, fixpoint.c, second_pass.c and resolve_jump.c
 * share. */
#ifndef CFG_JUMPS_DISPATCH_INT_H
#define CFG_JUMPS_DISPATCH_INT_H

#include "cfg/value/range.h"
#include "cfg/jumps/table_shape.h"
#include "cfg/value/value.h"

/* targets of a procedure's jumps together; beyond, they are not understood */
enum { TARGETS_MAX = 4000000 };

/* where a table starts, and what is added to its entries */
struct table_start {
	uint64_t address, base;
};
typedef VEC(struct table_start) table_starts;

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
	const table_starts *start; /* of all tables, by address; or NULL */
	table_starts own; /* of this procedure's, until those are known */
	unsigned depth; /* limit of recursion */
	bool opens; /* the next view is the first that is VIEW_ANY */
	uint32_t block; /* whose jump is resolved */
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

/* the first indirect jump of a piece; *stop: behind its last */
struct jump_site *jumps_of(const struct build *b, uint32_t piece,
			   struct jump_site **stop);
/* every jump of the procedure */
#define for_each_jump(j, w) \
	for (uint32_t j##_p = 0; j##_p < (w)->npiece; j##_p++) \
		for (struct jump_site *j##_stop, \
			     *j = jumps_of((w)->b, (w)->piece[j##_p], \
					   &j##_stop); \
		     j < j##_stop; j++)

/* --- resolve_jump.c */
/*
 * Resolves the jump that ends a block of the view; targets in w->target, not
 * all of them if they are more than TARGETS_MAX.
 */
void work_resolve(struct work *w, struct finding *f, uint32_t block);
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

/* --- second_pass.c */
/*
 * Makes the procedure ready for a second look, now that it is known where all
 * tables start; false if that would change nothing.
 */
bool work_begin_again(struct work *w);

/* --- fixpoint.c */
/*
 * Resolves the indirect jumps of one procedure. Only the second time is it
 * known which pointers the tables account for.
 */
void work_fixpoint(struct work *w, bool second);
/* the procedure has an indirect jump */
bool work_has_jump(const struct work *w);
/* control may arrive from outside at some place inside */
bool work_any_entry(const struct work *w);
/* sorts w->target and removes doubles */
void work_unique_targets(struct work *w);
/*
 * Adds the targets at hand to those that j is known to have; true if there are
 * new ones. What was once a target stays one: with more edges a bound can only
 * grow, and if the jump turns out to be unknown after all, the edges must still
 * be there for the sake of other jumps.
 */
bool work_add_targets(struct work *w, struct jump_site *j);
/* adds where the jump's table starts, if it has one */
void starts_add(table_starts *t, const struct jump_site *j);
/* brings them into order, by address */
void starts_sort(table_starts *t);

#endif
