/*
 * unique: which things of two lists are alike. Each has a key; one whose key
 * no other of its list has is like the one of the other list with that key.
 */
#ifndef REPORT_DIFF_UNIQUE_H
#define REPORT_DIFF_UNIQUE_H

#include <stdbool.h>

#include "base/mem.h"

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
