/*
 * scc: strongly connected components of the part that the root reaches
 * (Tarjan '72), without the closing edge. A component is numbered after all
 * those that it leads to, so component 0 leads nowhere.
 */
#ifndef FLOW_SCC_H
#define FLOW_SCC_H

#include "flow/dfs.h"

/* fills of[v], GRAPH_NONE where not reached; returns how many there are */
uint32_t scc_find(const struct graph *g, const struct dfs *d, uint32_t *of);

#endif
