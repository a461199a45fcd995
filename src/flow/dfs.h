/*
 * dfs: depth-first search from the root along the direction of the edges.
 *
 * The closing edge is not followed: this is the order in which a procedure
 * can run. Edges are tried in ascending order and the stack is explicit, so
 * the result is deterministic and a chain of a million blocks is no danger.
 * Vertices that the root does not reach have pre[v] == GRAPH_NONE.
 */
#ifndef FLOW_DFS_H
#define FLOW_DFS_H

#include "flow/graph.h"

struct dfs {
	uint32_t n;       /* vertices reached */
	uint32_t *order;  /* the n vertices as first met (preorder) */
	uint32_t *topo;   /* the n vertices in reverse postorder */
	uint32_t *pre;    /* place of v in order[] */
	uint32_t *last;   /* greatest pre[] in v's subtree */
	uint32_t *parent; /* in the search tree; GRAPH_NONE for the root */
};

/* fills *d, in the arena */
void dfs_search(struct arena *a, const struct graph *g, struct dfs *d);

/* whether v was reached */
static inline bool dfs_reached(const struct dfs *d, uint32_t v)
{
	return d->pre[v] != GRAPH_NONE;
}

/* whether u is v or an ancestor of v; requires: both reached */
static inline bool dfs_is_above(const struct dfs *d, uint32_t u, uint32_t v)
{
	return d->pre[u] <= d->pre[v] && d->pre[v] <= d->last[u];
}

/*
 * Whether edge e goes back to an ancestor in the search tree. Without these
 * edges the graph is acyclic and topo[] is a topological order.
 */
static inline bool dfs_is_back(const struct graph *g, const struct dfs *d,
			       uint32_t e)
{
	return e != g->closing && dfs_reached(d, g->from[e]) &&
	       dfs_is_above(d, g->to[e], g->from[e]);
}

/*
 * scc: strongly connected components of the part that the root reaches
 * (Tarjan '72), without the closing edge. A component is numbered after all
 * those that it leads to, so component 0 leads nowhere.
 */

/* fills of[v], GRAPH_NONE where not reached; returns how many there are */
uint32_t scc_find(const struct graph *g, const struct dfs *d, uint32_t *of);

#endif
