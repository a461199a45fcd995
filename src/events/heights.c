/* heights: see heights.h. */
#include "events/heights.h"

#include "count/map/map_graph.h"
#include "events/proc_events.h"
#include "flow/event.h"

static bool stub_of(void *ctx, uint64_t address, struct range *r)
{
	const struct map *m = ctx;
	struct map_inside in = {0};
	uint32_t p = map_proc_at(m, address);

	if (p == MAP_NONE || !m->proc.at[p].stub)
		return false;
	map_look(m, p, &in);
	*r = (struct range){in.block[0].start,
			    in.block[0].start + in.block[0].size};
	map_inside_free(&in);
	return true;
}

/* the block of the procedure that holds the address, or MAP_NONE */
static uint32_t block_in(const struct map_proc *p, const struct map_block *b,
			 uint64_t address)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		if (address >= b[i].start && address - b[i].start < b[i].size)
			return i;
	return MAP_NONE;
}

/* adds `sign` times the events of code */
static void add_code(const struct image_events *x, struct range code,
		     int64_t sign, int64_t add[EVENTS_MAX])
{
	uint32_t n[EVENTS_MAX];
	unsigned len;

	for (uint64_t a = code.start; a < code.end; a += len) {
		len = image_events_insn(x, a, n);
		if (!len)
			return;
		for (unsigned i = 0; i < x->list->n; i++)
			if (n[i] != EVENT_VARIES)
				add[i] += sign * n[i];
	}
}

/* the tree, as the map has it: edges outside of it have a counter */
static void tree_of(struct arena *a, const struct proc_view *v, struct tree *t)
{
	*t = (struct tree){.in = ARENA_ARRAY(a, bool, v->g->ne)};
	for (uint32_t e = 0; e < v->p->nedge; e++)
		t->in[e] = v->edge[e].counter == MAP_NONE;
	t->in[v->g->closing] = true;
}

/* at the start of a block, with additions on chords */
static void add_on_chords(const struct heights *h, const struct proc_view *v,
			  uint32_t block, int64_t add[EVENTS_MAX])
{
	struct proc_events events;
	struct event_plan plan;
	struct arena a = {0};
	struct tree t;

	tree_of(&a, v, &t);
	proc_events_find(&a, h->x, v, &events);
	for (unsigned i = 0; i < h->x->list->n; i++) {
		event_place(&a, v->g, &t, events.at_vertex[i],
			    events.at_edge[i], NULL, &plan);
		add[i] += plan.query_start[block];
	}
	proc_events_free(&events);
	arena_free(&a);
}

/* all of a block was added before its first instruction */
static void take_block(const struct heights *h, const struct proc_view *v,
		       uint32_t block, int64_t add[EVENTS_MAX])
{
	struct proc_events events;
	struct arena a = {0};

	proc_events_find(&a, h->x, v, &events);
	for (unsigned i = 0; i < h->x->list->n; i++)
		add[i] -= events.at_vertex[i][block];
	proc_events_free(&events);
	arena_free(&a);
}

/* before an instruction of a procedure's block */
static bool add_inside(const struct heights *h, uint32_t proc,
		       const struct map_inside *in, uint32_t block,
		       uint64_t address, int64_t add[EVENTS_MAX])
{
	const struct map_proc *p = &h->m->proc.at[proc];
	const struct map_block *b = &in->block[block];
	struct graph_sketch sketch = {0};
	struct arena a = {0};
	struct graph g;
	struct proc_view v = {h->m, p, in->block, in->edge, &g, stub_of,
			      (void *)(uintptr_t)h->m};

	if (p->unknown)
		return false;
	map_graph_begin(&sketch, p);
	for (uint32_t e = 0; e < p->nedge; e++)
		map_graph_add(&sketch, p, in->edge[e].from, in->edge[e].to);
	map_graph_seal(&a, &sketch, p, &g);
	if (b->counter == MAP_NONE)
		add_on_chords(h, &v, block, add);
	else
		take_block(h, &v, block, add);
	add_code(h->x, (struct range){b->start, address}, 1, add);
	arena_free(&a);
	return true;
}

bool heights_at(const struct heights *h, uint64_t address,
		int64_t add[EVENTS_MAX])
{
	struct map_inside in = {0};
	uint32_t block = MAP_NONE, p = 0;
	bool known = true;

	memset(add, 0, EVENTS_MAX * sizeof *add);
	for (; p < h->m->proc.n && block == MAP_NONE; p++) {
		if (!map_may_hold(h->m, p, address))
			continue;
		map_look(h->m, p, &in);
		block = block_in(&h->m->proc.at[p], in.block, address);
	}
	if (block != MAP_NONE && h->m->proc.at[p - 1].stub)
		/* they were added where it was called */
		add_code(h->x,
			 (struct range){address, in.block[0].start +
							 in.block[0].size},
			 -1, add);
	else if (block != MAP_NONE)
		known = add_inside(h, p - 1, &in, block, address, add);
	map_inside_free(&in);
	return known;
}
