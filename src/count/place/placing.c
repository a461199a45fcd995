/* placing: see placing.h. */
#include "count/place/placing.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/debug.h"
#include "count/map/map_graph.h"
#include "count/place/counting_graph.h"
#include "count/place/only.h"
#include "count/place/plan.h"
#include "count/place/weigh.h"

struct expected expected_edge(const struct placed_proc *q, uint32_t edge)
{
	const struct map_edge *e = &q->n->map.edge.at[q->p->edge + edge];

	return (struct expected){q->t->edge[edge], q->t->fall[e->to]};
}

bool placed_uses_below(const struct placed_proc *q)
{
	const struct cfg *c = q->d->s->cfg;
	size_t avail;

	for (uint32_t v = 0; c->isa->move->below_stack && v < q->p->nblock;
	     v++) {
		const struct map_block *k = &q->n->map.block.at[q->p->block +
								v];
		const uint8_t *code = image_at(c->image, k->start, &avail);

		if (code && c->isa->move->below_stack(
				    code, k->size < avail ? k->size : avail))
			return true;
	}
	return false;
}

static void insert_at(struct placing *n, struct insertion i,
		      const struct code_place *w, unsigned k, struct expected x)
{
	i.often = (float)x.often;
	i.past = (float)x.past;
	i.at = w->at[k];
	i.place = w->place[k];
	vec_push(&n->insertion, i);
}

void placing_insert_calling(struct placing *n, const struct insertion *like,
			    const struct code_place *w, struct expected x,
			    const struct counter_add *add, unsigned nadd,
			    const struct code_call *call)
{
	struct insertion i = *like;
	uint32_t number = 0;

	if (call) {
		vec_push(&n->call, *call);
		number = (uint32_t)n->call.n;
	}
	for (unsigned k = 0; k < w->n; k++) {
		if (!nadd) {
			i.code = CODE_CALLS | (number - 1);
			insert_at(n, i, w, k, x);
			continue;
		}
		i.code = (uint32_t)n->first.n;
		insert_at(n, i, w, k, x);
		vec_push(&n->first, (uint32_t)n->add.n);
		vec_push(&n->calls, number);
		for (unsigned j = 0; j < nadd; j++)
			vec_push(&n->add, add[j]);
	}
}

void placing_insert(struct placing *n, const struct insertion *like,
		    const struct code_place *w, struct expected x,
		    const struct counter_add *add, unsigned nadd)
{
	placing_insert_calling(n, like, w, x, add, nadd, NULL);
}

/* an insertion that does nothing else, at all those places */
static void insert_alone(struct placing *n, const struct insertion *like,
			 const struct code_place *w, struct expected x,
			 uint32_t code)
{
	struct insertion i = *like;

	i.code = code;
	for (unsigned k = 0; k < w->n; k++)
		insert_at(n, i, w, k, x);
}

void placing_append_bits(struct placing *n, const struct insertion *like,
			 const struct code_place *w, struct expected x,
			 struct code_append bits)
{
	struct insertion i = *like;

	/* each is a place of code that can be changed, as additions are */
	for (unsigned k = 0; k < w->n; k++) {
		i.code = CODE_APPENDS | (uint32_t)n->append.n;
		insert_at(n, i, w, k, x);
		vec_push(&n->append, bits);
	}
}

void placing_append_values(struct placing *n, const struct insertion *like,
			   const struct code_place *w, struct expected x,
			   struct code_values values)
{
	struct insertion i = *like;

	for (unsigned k = 0; k < w->n; k++) {
		i.code = CODE_VALUES | (uint32_t)n->values.n;
		insert_at(n, i, w, k, x);
		vec_push(&n->values, values);
	}
}

void placing_tell_site(struct placing *n, const struct insertion *like,
		       const struct code_place *w, struct expected x,
		       struct code_site site)
{
	insert_alone(n, like, w, x, CODE_SITES | (uint32_t)n->site_call.n);
	vec_push(&n->site_call, site);
}

void placing_tell_arrival(struct placing *n, const struct insertion *like,
			  const struct code_place *w,
			  struct code_arrival arrival)
{
	insert_alone(n, like, w, (struct expected){0},
		     CODE_ARRIVES | (uint32_t)n->arrival.n);
	vec_push(&n->arrival, arrival);
}

/* the counter of an edge, or a block, of the procedure */
static void add_counter(const struct placed_proc *q, enum place_kind kind,
			uint32_t at)
{
	struct placing *n = q->n;
	const struct insertion like = counter_insertion(q->d->s->cfg->isa);
	uint32_t counter = n->map.ncounter++;
	struct counter_add one = {.counter = (int32_t)counter, .constant = 1};
	struct code_place before = {.n = 1, .place = {PLAN_BEFORE}};

	if (!place_on_vertices(kind)) {
		n->map.edge.at[q->p->edge + at].counter = counter;
		placing_insert(n, &like, &q->d->way.at[at],
			       expected_edge(q, at), &one, 1);
		return;
	}
	n->map.block.at[q->p->block + at].counter = counter;
	before.at[0] = n->map.block.at[q->p->block + at].start;
	placing_insert(n, &like, &before, (struct expected){0}, &one, 1);
}

static void tell(const struct cfg *c, const struct map_proc *p,
		 uint32_t counters, bool guessed)
{
	char name[64];

	if (debug_is_on(DEBUG_PLACE))
		debug_say(DEBUG_PLACE, "%s: %s: %" PRIu32 " counters, %" PRIu32
			  " blocks, %" PRIu32 " edges, weights %s",
			  c->image->path, cfg_name_of(p->name, p->entry, name,
						      sizeof name),
			  counters, p->nblock, p->nedge,
			  guessed ? "guessed" : "measured");
}

/* counters for a procedure */
static void place_counters_in(const struct placed_proc *q,
			      enum place_kind kind, bool guessed)
{
	struct placement placed;

	places_choose(q->a, q->d, q->p, q->g, q->w, kind, &placed);
	for (uint32_t i = 0; i < placed.n; i++)
		add_counter(q, kind, placed.at[i]);
	tell(q->d->s->cfg, q->p, placed.n, guessed);
}

/* the procedure that was drawn last */
static void place_procedure(struct placing *n, struct counting_graph *d,
			    const struct count_options *o)
{
	const struct map_proc *p = &n->map.proc.at[n->map.proc.n - 1];
	struct arena a = {0};
	struct traffic t;
	struct weights w;
	struct graph g;
	struct placed_proc q = {n, d, p, &g, &w, &t, &a};
	bool guessed;

	map_graph(&a, &n->map, p, &g);
	guessed = !weigh_measured(&a, &n->map, p, &g, o->feedback, &w);
	if (guessed)
		weigh_guess(&a, &n->map, p, &g, &w);
	t = places_traffic(&a, d, p, &g, &w);
	places_price(&a, d, p, &g, &t, &w);
	if (o->placer)
		o->placer->place(o->placer, &q);
	else
		place_counters_in(&q, o->placement, guessed);
	arena_free(&a);
}

void placing_make(struct placing *n, const struct survey *s,
		  const struct carriers *t, const struct count_options *o,
		  const bool *sure, uint32_t from, uint32_t end)
{
	const struct isa *isa = s->cfg->isa;
	const struct procedure *proc = s->cfg->proc.at;
	struct only only;
	struct counting_graph d;

	*n = (struct placing){0};
	only_open(&only, o->only ? o->only : "");
	n->map.insn_size = isa->align == isa->max_len ? isa->align : 0;
	n->map.ncounter = o->placer ? o->placer->ncounter : 0;
	counting_graph_begin(&d, s, t, &n->map);
	d.pairs = o->pairs;
	d.only = o->only ? &only : NULL;
	d.sure = sure;
	for (uint32_t p = from; p < end; p++) {
		if (o->only && !only_has(&only, proc[p].name, proc[p].entry))
			continue;
		if (counting_graph_add(&d, p))
			place_procedure(n, &d, o);
		else
			counting_graph_add_stub(&d, p);
	}
	vec_take(&n->hooked, &d.hooked);
	n->takes_slot = d.takes_slot;
	counting_graph_free(&d);
	only_close(&only);
}

/* numbers of counters go on behind those of others, but for `common` ones */
struct numbering {
	uint32_t common, others;
};

static uint32_t behind(const struct numbering *x, uint32_t counter)
{
	return counter == MAP_NONE || counter < x->common ?
		       counter : counter + x->others;
}

/* numbers in the map go on behind those of another */
static void renumber_map(struct map *m, const struct map *before,
			 const struct numbering *x)
{
	for (size_t i = 0; i < m->proc.n; i++) {
		m->proc.at[i].block += (uint32_t)before->block.n;
		m->proc.at[i].edge += (uint32_t)before->edge.n;
		m->proc.at[i].slice += (uint32_t)before->slices.n;
	}
	for (size_t i = 0; i < m->block.n; i++) {
		struct map_block *b = &m->block.at[i];

		b->counter = behind(x, b->counter);
		b->length += (uint32_t)before->length.n;
	}
	for (size_t i = 0; i < m->edge.n; i++)
		m->edge.at[i].counter = behind(x, m->edge.at[i].counter);
	for (size_t i = 0; i < m->site.n; i++)
		m->site.at[i].block += (uint32_t)before->block.n;
}

/* sites with hooks go on behind others; only so many can have one */
static void renumber_hooked(struct placing *n, uint32_t before)
{
	while (n->hooked.n &&
	       n->hooked.at[n->hooked.n - 1].number + before >= HOOKS_JUMPS)
		n->map.site.at[n->hooked.at[--n->hooked.n].number].pairs =
			false;
	for (size_t i = 0; i < n->hooked.n; i++)
		n->hooked.at[i].number += before;
}

/* how many insertions of a kind there are */
static uint32_t code_before(const struct placing *n, uint32_t kind)
{
	switch (kind) {
	case CODE_CALLS:
		return (uint32_t)n->call.n;
	case CODE_APPENDS:
		return (uint32_t)n->append.n;
	case CODE_VALUES:
		return (uint32_t)n->values.n;
	case CODE_SITES:
		return (uint32_t)n->site_call.n;
	case CODE_ARRIVES:
		return (uint32_t)n->arrival.n;
	default:
		return (uint32_t)n->first.n;
	}
}

static void renumber(struct placing *n, const struct placing *before,
		     const struct numbering *x)
{
	renumber_map(&n->map, &before->map, x);
	renumber_hooked(n, (uint32_t)before->map.site.n);
	for (size_t i = 0; i < n->insertion.n; i++) {
		uint32_t *code = &n->insertion.at[i].code;

		*code += code_before(before, *code & CODE_ALONE);
	}
	for (size_t i = 0; i < n->site_call.n; i++) {
		int32_t *word = &n->site_call.at[i].word;

		if (*word >= 0)
			*word = (int32_t)behind(x, (uint32_t)*word);
	}
	for (size_t i = 0; i < n->first.n; i++) {
		n->first.at[i] += (uint32_t)before->add.n;
		if (n->calls.at[i])
			n->calls.at[i] += (uint32_t)before->call.n;
	}
	for (size_t i = 0; i < n->call.n; i++)
		n->call.at[i].word =
			(int32_t)behind(x, (uint32_t)n->call.at[i].word);
	/* those of the running page are below 0 */
	for (size_t i = 0; i < n->add.n; i++)
		if (n->add.at[i].counter >= 0)
			n->add.at[i].counter = (int32_t)behind(
				x, (uint32_t)n->add.at[i].counter);
}

void placing_append(struct placing *all, struct placing *n, uint32_t common)
{
	const struct numbering x = {common, all->map.ncounter - common};

	renumber(n, all, &x);
	for (size_t i = 0; i < n->unseen.n; i++)
		n->unseen.at[i] += (uint32_t)all->map.proc.n;
	vec_take(&all->unseen, &n->unseen);
	vec_take(&all->map.proc, &n->map.proc);
	vec_take(&all->map.block, &n->map.block);
	vec_take(&all->map.edge, &n->map.edge);
	vec_take(&all->map.site, &n->map.site);
	vec_take(&all->map.length, &n->map.length);
	vec_take(&all->map.slices, &n->map.slices);
	all->map.ncounter += n->map.ncounter - common;
	vec_take(&all->insertion, &n->insertion);
	vec_take(&all->first, &n->first);
	vec_take(&all->add, &n->add);
	vec_take(&all->call, &n->call);
	vec_take(&all->calls, &n->calls);
	vec_take(&all->append, &n->append);
	vec_take(&all->values, &n->values);
	vec_take(&all->site_call, &n->site_call);
	vec_take(&all->arrival, &n->arrival);
	vec_take(&all->hooked, &n->hooked);
	all->takes_slot |= n->takes_slot;
}

/* a jump that is taken is as dear as half an increment */
static const double jump_cost = .5;

bool places_falls(const struct map_edge *e)
{
	return e->kind == MAP_FALL || e->kind == MAP_OVER ||
	       e->kind == MAP_BACK;
}

struct traffic places_traffic(struct arena *a, const struct counting_graph *d,
			      const struct map_proc *p, const struct graph *g,
			      const struct weights *w)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	double *edge = ARENA_ARRAY(a, double, g->ne);
	double *fall = ARENA_ARRAY(a, double, g->nv);

	memcpy(edge, w->edge, g->ne * sizeof *edge);
	for (uint32_t i = 0; i < p->nedge; i++)
		if (places_falls(&e[i]))
			fall[e[i].to] += edge[i];
	return (struct traffic){edge, fall};
}

/* by vertex: of the edges to it whose code is aside, the busiest */
static const uint32_t *find_busiest(struct arena *a,
				    const struct counting_graph *d,
				    const struct map_proc *p,
				    const struct graph *g,
				    const struct traffic *t)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	uint32_t *best = ARENA_ARRAY(a, uint32_t, g->nv);

	for (uint32_t v = 0; v < g->nv; v++)
		best[v] = MAP_NONE;
	for (uint32_t i = 0; i < p->nedge; i++) {
		uint32_t v = e[i].to;

		if (d->way.at[i].jump &&
		    (best[v] == MAP_NONE || t->edge[i] > t->edge[best[v]]))
			best[v] = i;
	}
	return best;
}

/*
 * The code of one edge can lie before the block that it leads to: then not
 * that edge jumps, but what falls through (rewrite/insert/edge_code.h).
 */
void places_price(struct arena *a, const struct counting_graph *d,
		  const struct map_proc *p, const struct graph *g,
		  const struct traffic *t, struct weights *w)
{
	const struct map_edge *e = &d->m->edge.at[p->edge];
	const uint32_t *best = find_busiest(a, d, p, g, t);

	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct code_place *y = &d->way.at[i];
		double jumps = y->jump ? t->edge[i] : 0;

		if (y->jump && best[e[i].to] == i &&
		    t->fall[e[i].to] < jumps)
			jumps = t->fall[e[i].to];
		w->edge[i] = t->edge[i] * (double)y->cost + jumps * jump_cost;
	}
}

void places_choose(struct arena *a, const struct counting_graph *d,
		   const struct map_proc *p, const struct graph *g,
		   const struct weights *w, enum place_kind kind,
		   struct placement *placed)
{
	bool *edge = ARENA_ARRAY(a, bool, g->ne);
	bool *vertex = ARENA_ARRAY(a, bool, g->nv);
	struct place_limits limits = {edge, vertex};

	for (uint32_t i = 0; i < p->nedge; i++)
		edge[i] = !d->way.at[i].n;
	for (uint32_t v = 0; place_on_vertices(kind) && v < p->nblock; v++)
		vertex[v] = !(d->before.at[v] & CARRIER_CAN);
	place_counters(a, g, w, &limits, kind, placed);
}
