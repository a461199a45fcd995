/* heights: see heights.h. */
#include "events/heights.h"

#include "count/map/map_graph.h"
#include "events/proc_events.h"
#include "flow/event.h"

struct heights {
	const struct map *m;
	const struct image_events *x;
	/* by procedure, then block: before its first instruction, the list's
	   events; NULL: not found yet */
	int64_t **start;
	struct arena arena;
};

struct heights *heights_open(const struct map *m, const struct image_events *x)
{
	struct heights *h = NEW_ARRAY(struct heights, 1);

	*h = (struct heights){
		.m = m, .x = x, .start = NEW_ARRAY(int64_t *, m->proc.n)};
	return h;
}

void heights_close(struct heights *h)
{
	arena_free(&h->arena);
	mem_free(h->start);
	mem_free(h);
}

static struct range code_of(const struct map_block *b)
{
	return (struct range){b->start, b->start + b->size};
}

static bool stub_of(void *ctx, uint64_t address, struct range *r)
{
	const struct map *m = ctx;
	struct map_inside in = {0};
	uint32_t p = map_proc_at(m, address);

	if (p == MAP_NONE || !m->proc.at[p].stub)
		return false;
	map_look(m, p, &in);
	*r = code_of(&in.block[0]);
	map_inside_free(&in);
	return true;
}

/* the tree, as the map has it: edges outside of it have a counter */
static void tree_of(struct arena *a, const struct proc_view *v, struct tree *t)
{
	*t = (struct tree){.in = ARENA_ARRAY(a, bool, v->g->ne)};
	for (uint32_t e = 0; e < v->p->nedge; e++)
		t->in[e] = v->edge[e].counter == MAP_NONE;
	t->in[v->g->closing] = true;
}

/*
 * At the start of every block of a procedure: additions are on chords, or all
 * of a block was added before its first instruction.
 */
static void fill_starts(const struct heights *h, const struct proc_view *v,
			int64_t *start)
{
	unsigned n = h->x->list->n;
	struct proc_events events;
	struct event_plan plan;
	struct arena a = {0};
	struct tree t;

	tree_of(&a, v, &t);
	proc_events_find(&a, h->x, v, &events);
	for (unsigned i = 0; i < n; i++) {
		event_place(&a, v->g, &t, events.at_vertex[i],
			    events.at_edge[i], NULL, &plan);
		for (uint32_t b = 0; b < v->p->nblock; b++)
			start[b * n + i] = v->block[b].counter == MAP_NONE ?
						   plan.query_start[b] :
						   -events.at_vertex[i][b];
	}
	proc_events_free(&events);
	arena_free(&a);
}

/* of a procedure of the map, whose blocks and edges are there */
static int64_t *starts_of(struct heights *h, uint32_t proc)
{
	const struct map_proc *p = &h->m->proc.at[proc];
	struct graph_sketch sketch = {0};
	struct arena a = {0};
	struct graph g;
	struct proc_view v = {h->m, p, h->m->block.at + p->block,
			      h->m->edge.at + p->edge, &g, stub_of,
			      (void *)(uintptr_t)h->m};

	if (h->start[proc])
		return h->start[proc];
	h->start[proc] = ARENA_ARRAY(&h->arena, int64_t,
				     (size_t)p->nblock * h->x->list->n);
	map_graph_begin(&sketch, p);
	for (uint32_t e = 0; e < p->nedge; e++)
		map_graph_add(&sketch, p, v.edge[e].from, v.edge[e].to);
	map_graph_seal(&a, &sketch, p, &g);
	fill_starts(h, &v, h->start[proc]);
	arena_free(&a);
	return h->start[proc];
}

/* in a stub: its events were added where it was called */
static void take_rest(const struct heights *h, struct range rest,
		      int64_t add[EVENTS_MAX])
{
	int64_t n[EVENTS_MAX] = {0};

	image_events_add(h->x, rest, n, NULL);
	for (unsigned i = 0; i < h->x->list->n; i++)
		add[i] -= n[i];
}

bool heights_at(struct heights *h, uint64_t address, int64_t add[EVENTS_MAX])
{
	uint32_t block = map_block_at(h->m, address), proc;
	const struct map_block *b;
	const struct map_proc *p;
	const int64_t *start;

	memset(add, 0, EVENTS_MAX * sizeof *add);
	if (block == MAP_NONE)
		return true;
	b = &h->m->block.at[block];
	proc = map_proc_of(h->m, block);
	p = &h->m->proc.at[proc];
	if (p->stub) {
		take_rest(h, (struct range){address, code_of(b).end}, add);
		return true;
	}
	if (p->unknown)
		return false;
	start = starts_of(h, proc) + (block - p->block) * h->x->list->n;
	for (unsigned i = 0; i < h->x->list->n; i++)
		add[i] = start[i];
	image_events_add(h->x, (struct range){b->start, address}, add, NULL);
	return true;
}
