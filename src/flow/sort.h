/*
 * sort: numbers ordered by the weights they stand for, heaviest first. Stable
 * and near linear: see sort.c.
 */
#ifndef FLOW_SORT_H
#define FLOW_SORT_H

#include <stdint.h>

/* a number, and what it stands for */
struct sort_item {
	uint64_t key;
	uint32_t at;
};

/* orders x[0 .. n-1] by rising key, equals as they were */
void sort_items(struct sort_item *x, uint32_t n);
/* reorders at[0 .. n-1] by falling weight[at[i]]; requires: weights >= 0 */
void sort_falling(const double *weight, uint32_t *at, uint32_t n);

#endif
