/*
 * match_blocks: which blocks of a procedure are which in another build of it,
 * by content and neighbourhood.
 *
 * A block's content says little where many are alike (a return, a call). So
 * its label is mixed with those of its neighbours, and theirs, ROUNDS times
 * (Weisfeiler and Leman '68): first those are matched whose surroundings are
 * the same and occur once, then with smaller and smaller surroundings. Then
 * neighbours of matched blocks are, if there is one candidate, at last even
 * if their content has changed. What is left has no counterpart.
 */
#ifndef REPORT_DIFF_MATCH_BLOCKS_H
#define REPORT_DIFF_MATCH_BLOCKS_H

#include <stdbool.h>

#include "base/mem.h"
#include "report/diff/content.h"

#define MATCH_NONE UINT32_MAX

/*
 * Fills to[0 .. blocks of p], by place in the procedure: place in q, or
 * MATCH_NONE. p and q are procedures of x and y.
 */
void match_blocks(const struct content *x, uint32_t p,
		  const struct content *y, uint32_t q, uint32_t *to);

/*
 * unique: which things of two lists are alike. Each has a key; one whose key
 * no other of its list has is like the one of the other list with that key.
 */
struct keyed {
	uint64_t key;
	uint32_t item;
};

struct keyed_list {
	VEC(struct keyed) v;
};

/*
 * Calls match() for each pair. groups: also where a key occurs equally often
 * in both, in the order of the items. Sorts both lists.
 */
void unique_match(struct keyed_list *a, struct keyed_list *b, bool groups,
		  void (*match)(void *ctx, uint32_t x, uint32_t y), void *ctx);

#endif
