/* placer: see placer.h. */
#include "events/placer.h"

#include <stdlib.h>

#include "events/call_sites.h"
#include "events/proc_events.h"
#include "events/running.h"

/* a procedure that is being instrumented */
struct event_proc {
	const struct event_placer *x;
	const struct placed_proc *q;
	struct insertion like;
	struct proc_events events;
	struct event_plan plan[EVENTS_MAX]; /* by event */
	struct call_sites sites; /* if calls are seen */
	unsigned lane;
};

static const struct event_list *list_of(const struct event_proc *k)
{
	return k->x->events.list;
}

/* --- chords */

static void span(const struct event_proc *k, struct tree *t)
{
	const struct placed_proc *q = k->q;
	uint8_t *rule = ARENA_ARRAY(q->a, uint8_t, q->g->ne);

	for (uint32_t e = 0; e < q->p->nedge; e++)
		rule[e] = q->d->way.at[e].n ? TREE_FREE : TREE_MUST;
	rule[q->g->closing] = TREE_SEED;
	tree_span(q->a, q->g, q->w->edge, rule, t);
}

/*
 * May code of the edge be before the last instruction of the block it leaves?
 * So is what stands before a jump, a return or a call.
 */
static bool leaves(const struct event_proc *k, uint32_t e)
{
	const struct map_edge *d = &k->q->n->map.edge.at[k->q->p->edge + e];
	const struct code_place *w = &k->q->d->way.at[e];

	if (d->from >= k->q->p->nblock)
		return false;
	if (w->place[0] == PLAN_BEFORE)
		return d->to == map_exit(k->q->p);
	return w->place[0] == PLAN_EDGE && d->kind != MAP_FALL &&
	       d->kind != MAP_TAKEN && d->kind != MAP_TABLE;
}

/*
 * Edges take turns: what follows one another is of different lanes. Where every
 * call reads them there are fewer.
 */
static unsigned next_lane(struct event_proc *k, uint32_t e)
{
	if (leaves(k, e))
		return RUNNING_LEAVES;
	if (k->sites.code)
		return RUNNING_PLAIN;
	k->lane = (k->lane + 1) % (RUNNING_LANES - RUNNING_PLAIN);
	return RUNNING_PLAIN + k->lane;
}

/* does going along edge e change a counter? */
static bool changes(const struct event_proc *k, uint32_t e)
{
	for (unsigned i = 0; i < list_of(k)->n; i++)
		if (k->plan[i].increment[e])
			return true;
	return false;
}

/*
 * An edge would have to add, and can carry no code: a store-exclusive that
 * failed is tried again, for example. How often that is is not known; that it
 * may have been is, by a counter of the image on the other ways out of the
 * block. False: nor can these carry code.
 */
static bool watch_blind(struct event_proc *k, uint32_t e)
{
	const struct placed_proc *q = k->q;
	const struct map_edge *d = &q->n->map.edge.at[q->p->edge];
	struct counter_add one = {.counter = (int32_t)list_of(k)->n,
				  .constant = 1};
	struct insertion like = counter_insertion(k->x->events.isa);
	bool any = false;

	for (uint32_t f = 0; f < q->p->nedge; f++) {
		if (d[f].from != d[e].from || !q->d->way.at[f].n)
			continue;
		placing_insert(q->n, &like, &q->d->way.at[f],
			       expected_edge(q, f), &one, 1);
		any = true;
	}
	return any;
}

/* what edge e adds to each counter that it changes; how many */
static unsigned increments(struct event_proc *k, uint32_t e,
			   struct counter_add add[EVENTS_MAX])
{
	const struct isa *isa = k->x->events.isa;
	unsigned n = 0, lane = next_lane(k, e);

	for (unsigned i = 0; i < list_of(k)->n; i++)
		if (k->plan[i].increment[e])
			add[n++] = (struct counter_add){
				running_word(isa, running_event(i, lane)),
				(int32_t)k->plan[i].increment[e],
				k->x->traps && !i};
	return n;
}

/* can code add all of the increments? */
static bool all_fit(const struct event_proc *k)
{
	for (unsigned i = 0; i < list_of(k)->n; i++)
		for (uint32_t e = 0; e < k->q->g->ne; e++)
			if (!k->x->events.isa->move->add_fits(
				    k->plan[i].increment[e]))
				return false;
	return true;
}

static void raise(uint64_t *most, uint64_t n)
{
	uint64_t now = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (now < n &&
	       !__atomic_compare_exchange_n(most, &now, n, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* how far the first running counter may be from what was counted */
static void note_highest(const struct event_proc *k)
{
	const struct event_plan *x = &k->plan[0];

	for (uint32_t v = 0; v < k->q->g->nv; v++) {
		raise(k->x->highest, (uint64_t)llabs(x->query_start[v]));
		raise(k->x->highest, (uint64_t)llabs(x->query_end[v]));
	}
	for (uint32_t e = 0; e < k->q->g->ne; e++)
		raise(k->x->highest, (uint64_t)llabs(x->increment[e]));
}

/* on the edges outside of a tree; false: that cannot be, nothing is placed */
static bool place_on_chords(struct event_proc *k)
{
	const struct placed_proc *q = k->q;
	struct counter_add add[EVENTS_MAX];
	struct tree t;

	span(k, &t);
	for (unsigned i = 0; i < list_of(k)->n; i++)
		event_place(q->a, q->g, &t, k->events.at_vertex[i],
			    k->events.at_edge[i], NULL, &k->plan[i]);
	if (!all_fit(k))
		return false;
	for (uint32_t e = 0; t.blind && e < q->p->nedge; e++)
		if (!t.in[e] && !q->d->way.at[e].n && changes(k, e) &&
		    !watch_blind(k, e))
			return false;
	note_highest(k);
	for (uint32_t e = 0; e < q->p->nedge; e++) {
		unsigned n = q->d->way.at[e].n ? increments(k, e, add) : 0;
		struct insertion like = k->like;
		const struct code_call *call =
			call_sites_on_edge(&k->sites, e, &like);

		/* the tree tells readers all that is to know (heights.c) */
		if (!t.in[e])
			q->n->map.edge.at[q->p->edge + e].counter = 0;
		if (n || call)
			placing_insert_calling(q->n, &like, &q->d->way.at[e],
					       expected_edge(q, e), add, n,
					       call);
	}
	call_sites_place(&k->sites, false);
	return true;
}

/* --- blocks, where chords cannot do it */

/* edges have no events of their own then */
static bool edges_are_silent(const struct event_proc *k, unsigned event)
{
	for (uint32_t e = 0; e < k->q->g->ne; e++)
		if (k->events.at_edge[event][e])
			return false;
	return true;
}

static const char *why_not_in_blocks(const struct event_proc *k)
{
	const struct placed_proc *q = k->q;

	for (uint32_t v = 0; v < q->p->nblock; v++)
		if (!(q->d->before.at[v] & CARRIER_CAN))
			return "a block of it can carry no code";
	for (unsigned i = 0; i < list_of(k)->n; i++)
		if (!edges_are_silent(k, i))
			return "an edge of it can carry no code";
	return NULL;
}

static void place_in_blocks(struct event_proc *k)
{
	const struct placed_proc *q = k->q;
	const struct isa *isa = k->x->events.isa;

	for (uint32_t v = 0; v < q->p->nblock; v++) {
		struct map_block *b = &q->n->map.block.at[q->p->block + v];
		struct code_place before = {.n = 1, .place = {PLAN_BEFORE},
					    .at = {b->start}};
		struct counter_add add[EVENTS_MAX];
		unsigned n = 0;

		for (unsigned i = 0; i < list_of(k)->n; i++)
			if (k->events.at_vertex[i][v])
				add[n++] = (struct counter_add){
					running_word(isa, running_event(
						i, RUNNING_PLAIN)),
					(int32_t)k->events.at_vertex[i][v],
					k->x->traps && !i};
		b->counter = 0;
		raise(k->x->highest, (uint64_t)k->events.at_vertex[0][v]);
		if (n)
			placing_insert(q->n, &k->like, &before,
				       (struct expected){0}, add, n);
	}
	call_sites_place(&k->sites, true);
}

/* --- what is no constant */

/* counts that it ran, in a counter of the image for each event */
static void place_varying(struct event_proc *k)
{
	for (size_t i = 0; i < k->events.varying.n; i++) {
		const struct event_varying *v = &k->events.varying.at[i];
		struct counter_add one = {.counter = (int32_t)v->event,
					  .constant = 1};
		struct code_place before = {.n = 1, .place = {PLAN_BEFORE},
					    .at = {v->address}};
		struct insertion like = counter_insertion(k->x->events.isa);

		like.at = v->address;
		like.place = PLAN_BEFORE;
		if (!insertion_obstacle(k->q->d->s, &like))
			placing_insert(k->q->n, &like, &before,
				       (struct expected){0}, &one, 1);
	}
}

/* --- the procedure */

/*
 * Whoever waits for one of few events must not miss it: on edges of the tree
 * they happen unseen, and the next edge that adds may be far. What nearly
 * every block has is waited for on chords, and then step by step.
 */
static bool is_sparse(const struct event_proc *k)
{
	return k->x->traps && list_of(k)->at[0].kind > EVENT_TAKEN;
}

static bool stub_of(void *ctx, uint64_t address, struct range *r)
{
	return counting_graph_stub(ctx, address, r);
}

static void place(const struct placer *x, const struct placed_proc *q)
{
	struct event_proc k = {
		.x = (const struct event_placer *)x,
		.q = q,
	};
	struct map *m = &q->n->map;
	struct proc_view v = {
		m, q->p, &m->block.at[q->p->block], &m->edge.at[q->p->edge],
		q->g, stub_of, q->d,
	};

	k.like = x->like(k.x->events.isa);
	if (x->calls)
		call_sites_find(&k.sites, k.x->calls, q);
	proc_events_find(q->a, &k.x->events, &v, &k.events);
	if ((is_sparse(&k) && !why_not_in_blocks(&k)) ||
	    !place_on_chords(&k)) {
		m->proc.at[m->proc.n - 1].unknown = why_not_in_blocks(&k);
		if (!q->p->unknown)
			place_in_blocks(&k);
	}
	if (!q->p->unknown)
		place_varying(&k);
	proc_events_free(&k.events);
}

static struct insertion like_additions(const struct isa *isa)
{
	return adding_insertion(isa->move->add_needs);
}

/* code that may trap has one form */
static struct insertion like_trapping(const struct isa *isa)
{
	struct insertion i = like_additions(isa);

	i.keeps = false;
	return i;
}

void event_placer_begin(struct event_placer *x, const struct image *im,
			const struct event_list *list, bool traps,
			const struct call_code *calls)
{
	*x = (struct event_placer){
		.traps = traps,
		.calls = calls,
		.placer = {
			.place = place,
			.like = traps ? like_trapping : like_additions,
			.kind = PLACE_RUNNING,
			.running = true,
			.nevent = list->n,
			/* what has no constant, by event; blind edges */
			.ncounter = list->n + 1,
			.routines = calls ? &calls->routines : NULL,
			.calls = calls,
		},
	};
	x->highest = NEW_ARRAY(uint64_t, 1);
	image_events_begin(&x->events, im, list);
}

void event_placer_free(struct event_placer *x)
{
	image_events_free(&x->events);
	mem_free(x->highest);
}
