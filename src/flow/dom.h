/*
 * dom: which vertices every path from the root must pass.
 *
 * u dominates v if u is on every path from the root to v. The closest proper
 * dominator is idom[v]; these make a tree whose root is the procedure's.
 * Unreachable vertices have none and are dominated by nothing. Paths do not
 * use the closing edge.
 */
#ifndef FLOW_DOM_H
#define FLOW_DOM_H

#include "flow/dfs.h"

struct dom {
	uint32_t *idom;  /* GRAPH_NONE for the root and the unreachable */
	/* of dom_number(): */
	uint32_t *first; /* v's number in a preorder of the dominator tree */
	uint32_t *size;  /* vertices that v dominates; 0 if unreachable */
};

/* fills m->idom, in the arena; d is dfs_search()'s result for g */
void dom_find(struct arena *a, const struct graph *g, const struct dfs *d,
	      struct dom *m);
/* fills the rest of *m, for dom_dominates() */
void dom_number(struct arena *a, const struct graph *g, const struct dfs *d,
		struct dom *m);

/* whether u dominates v (every reachable vertex dominates itself) */
static inline bool dom_dominates(const struct dom *m, uint32_t u, uint32_t v)
{
	return m->size[u] && m->size[v] && m->first[u] <= m->first[v] &&
	       m->first[v] - m->first[u] < m->size[u];
}

#endif
