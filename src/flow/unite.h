/*
 * unite: disjoint sets as an array (union-find). of[v] leads towards the
 * representative of v's set, which leads to itself; graph_identity() is all
 * sets of one. Setting of[a] = b for two representatives unites their sets.
 */
#ifndef FLOW_UNITE_H
#define FLOW_UNITE_H

#include <stdint.h>

/* the representative of v's set; the way there is halved for the next time */
static inline uint32_t unite_find(uint32_t *of, uint32_t v)
{
	while (of[v] != v) {
		of[v] = of[of[v]];
		v = of[v];
	}
	return v;
}

#endif
