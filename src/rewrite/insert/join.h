/*
 * join: two plans for one image, made by rooms that do not know each other,
 * become one. Each gets its own memory, constants and support code, the
 * second's behind the first's; at one place the first one's code comes first
 * (but see plan.h on code that calls). What a file has only one of (its entry,
 * an entry of the dynamic section, a section) is the first's, or the second's
 * if the first wants none.
 */
#ifndef REWRITE_INSERT_JOIN_H
#define REWRITE_INSERT_JOIN_H

#include "rewrite/plan.h"

struct joint {
	struct plan plan; /* the result */
	const struct plan *of[2];
	uint64_t data_at[2];
	uint32_t support_at[2];
	uint64_t constant_at[2];
};

/*
 * Both plans, with the same survey if any, must outlive the result, which has
 * the insertions of *b then: they are many.
 */
void plans_join(struct joint *j, const struct plan *a, struct plan *b);
void joint_free(struct joint *j);

#endif
