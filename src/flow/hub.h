/*
 * hub: what is known about single (jump, target) pairs behind a hub.
 *
 * A hub (graph.h) tells how often each jump went into it and each target was
 * reached from it, not which jump went to which target. Of a pair, that leaves
 * bounds: with a the jump's count, b the target's and n the hub's, the pair ran
 *
 *	at least a + b - n (the others cannot use up all of b)
 *	at most  min(a, b)
 *
 * times, and both bounds are reached by some execution. The pair is known
 * where they agree, for instance behind a single jump.
 */
#ifndef FLOW_HUB_H
#define FLOW_HUB_H

#include "flow/propagate.h"

/*
 * Fills the bounds of jump -> hub -> target. Returns false if the counts are
 * not known. requires: r is consistent.
 */
bool hub_bound_pair(const struct graph *g, const struct propagation *r,
		    uint32_t jump, uint32_t hub, uint32_t target,
		    uint64_t *least, uint64_t *most);

#endif
