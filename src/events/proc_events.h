/*
 * proc_events: the events of a procedure as its flow graph has them: constants
 * of vertices and edges. The same where running counters are placed and where
 * they are read.
 */
#ifndef EVENTS_PROC_EVENTS_H
#define EVENTS_PROC_EVENTS_H

#include "count/map/map.h"
#include "events/image_events.h"
#include "flow/graph.h"

/* a procedure of a map, and its flow graph (map_graph.h) */
struct proc_view {
	const struct map *m;
	const struct map_proc *p;
	const struct map_block *block; /* its own, from 0 */
	const struct map_edge *edge;
	const struct graph *g;
	/*
	 * Stubs of the linker are not counted: their events are those of the
	 * edges that lead there. Is there one? *r is its code.
	 */
	bool (*stub)(void *ctx, uint64_t address, struct range *r);
	void *ctx;
};

struct proc_events {
	/* by event: by vertex and by edge of the graph */
	int64_t *at_vertex[EVENTS_MAX], *at_edge[EVENTS_MAX];
	event_varyings varying; /* these add nothing */
};

/* fills *q, arrays in the arena */
void proc_events_find(struct arena *a, const struct image_events *x,
		      const struct proc_view *v, struct proc_events *q);
void proc_events_free(struct proc_events *q);

#endif
