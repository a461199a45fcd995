/* proc_events: see proc_events.h. */
#include "events/proc_events.h"

/* the events of code are those of a vertex or an edge */
static void add_code(const struct image_events *x, struct range code,
		     struct proc_events *q, int64_t *const to[EVENTS_MAX],
		     uint32_t at)
{
	int64_t n[EVENTS_MAX] = {0};

	image_events_add(x, code, n, &q->varying);
	for (unsigned i = 0; i < x->list->n; i++)
		to[i][at] += n[i];
}

/* conditional branches: what happens if they are taken */
static void add_taken(const struct image_events *x, const struct proc_view *v,
		      uint32_t block, struct proc_events *q)
{
	uint64_t last = map_block_last(v->m, &v->block[block]);
	uint32_t e;

	if (!image_events_branches(x, last))
		return;
	e = image_events_taken(v->p, v->edge, block);
	for (unsigned i = 0; i < x->list->n; i++) {
		struct event_varying unknown = {last, i};

		if (x->list->at[i].kind != EVENT_TAKEN)
			continue;
		if (e == MAP_NONE)
			vec_push(&q->varying, unknown);
		else
			q->at_edge[i][e - v->p->edge]++;
	}
}

/*
 * A stub that an edge leads to. Where that is the only way out of a block its
 * events are the block's: there is code in more blocks than on edges.
 */
static void add_stub(const struct image_events *x, const struct proc_view *v,
		     uint32_t e, struct proc_events *q)
{
	uint32_t from = v->edge[e].from;
	struct range code;

	if (!v->edge[e].callee || !v->stub(v->ctx, v->edge[e].callee, &code))
		return;
	if (graph_out_degree(v->g, from) == 1)
		add_code(x, code, q, q->at_vertex, from);
	else
		add_code(x, code, q, q->at_edge, e);
}

void proc_events_find(struct arena *a, const struct image_events *x,
		      const struct proc_view *v, struct proc_events *q)
{
	struct range code;

	*q = (struct proc_events){0};
	for (unsigned i = 0; i < x->list->n; i++) {
		q->at_vertex[i] = ARENA_ARRAY(a, int64_t, v->g->nv);
		q->at_edge[i] = ARENA_ARRAY(a, int64_t, v->g->ne);
	}
	for (uint32_t b = 0; b < v->p->nblock; b++) {
		code = (struct range){v->block[b].start,
				      v->block[b].start + v->block[b].size};
		add_code(x, code, q, q->at_vertex, b);
		add_taken(x, v, b, q);
	}
	for (uint32_t e = 0; e < v->p->nedge; e++)
		add_stub(x, v, e, q);
}

void proc_events_free(struct proc_events *q)
{
	vec_free(&q->varying);
}
