/* hub: see blocks.c. */
#include "flow/hub.h"

/* adds edge e's count to *sum; returns whether it is known */
static bool hub_add(const struct propagation *r, uint32_t e, uint64_t *sum)
{
	*sum += r->edge[e];
	return r->edge_known[e];
}

bool hub_bound_pair(const struct graph *g, const struct propagation *r,
		    uint32_t jump, uint32_t hub, uint32_t target,
		    uint64_t *least, uint64_t *most)
{
	uint64_t a = 0, b = 0, others;
	bool known = r->vertex_known[hub];

	for_each_edge_in (e, g, hub)
		if (g->from[e] == jump)
			known &= hub_add(r, e, &a);
	for_each_edge_out (e, g, hub)
		if (g->to[e] == target)
			known &= hub_add(r, e, &b);
	others = r->vertex[hub] - a;
	*least = b > others ? b - others : 0;
	*most = a < b ? a : b;
	return known;
}
