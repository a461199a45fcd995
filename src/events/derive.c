/* derive: see derive.h. */
#include "events/derive.h"

struct derivation {
	const struct image_events *x;
	const struct solved *s;
	struct event_totals *t;
	uint32_t proc;
	size_t first; /* of t->varies: those of the procedure */
};

/* no machine runs as much as that: a profile that says so is wrong */
static void add(struct event_total *t, uint64_t runs, uint64_t events)
{
	uint64_t n;

	t->more |= __builtin_mul_overflow(runs, events, &n) ||
		   __builtin_add_overflow(t->n, n, &t->n);
}

static void add_varying(struct derivation *d, unsigned event,
			uint64_t address, uint64_t count)
{
	struct event_varies new = {event, d->proc, address, count};

	d->t->at[event].more = true;
	for (size_t i = d->first; i < d->t->varies.n; i++) {
		struct event_varies *v = &d->t->varies.at[i];

		if (v->event != event)
			continue;
		v->count += count;
		return;
	}
	vec_push(&d->t->varies, new);
}

static void add_insn(struct derivation *d, uint64_t address,
		     const uint32_t n[EVENTS_MAX], uint64_t count)
{
	for (unsigned i = 0; i < d->x->list->n; i++)
		if (n[i] == EVENT_VARIES)
			add_varying(d, i, address, count);
		else if (n[i])
			add(&d->t->at[i], count, n[i]);
}

/* a conditional branch that ends a block of the procedure */
static void add_taken(struct derivation *d, const struct map_proc *p,
		      uint32_t block, uint64_t last)
{
	const struct map *m = d->s->m;
	uint32_t e = image_events_taken(p, &m->edge.at[p->edge],
					block - p->block);

	for (unsigned i = 0; i < d->x->list->n; i++) {
		if (d->x->list->at[i].kind != EVENT_TAKEN)
			continue;
		if (e != MAP_NONE && d->s->edge_known[e])
			add(&d->t->at[i], d->s->edge[e], 1);
		else
			add_varying(d, i, last, d->s->block[block]);
	}
}

static void add_block(struct derivation *d, const struct map_proc *p,
		      uint32_t block)
{
	const struct map *m = d->s->m;
	const struct map_block *b = &m->block.at[block];
	uint32_t n[EVENTS_MAX];
	uint64_t at = b->start, last = at;

	for (uint32_t i = 0; i < b->ninsn; i++) {
		if (!image_events_insn(d->x, at, n))
			return;
		add_insn(d, at, n, solved_insn(d->s, block, i));
		last = at;
		at += m->insn_size ? m->insn_size : m->length.at[b->length + i];
	}
	if (image_events_branches(d->x, last))
		add_taken(d, p, block, last);
}

static void add_proc(struct derivation *d, uint32_t proc)
{
	const struct map_proc *p = &d->s->m->proc.at[proc];

	d->proc = proc;
	d->first = d->t->varies.n;
	solve_load_next(d->s, proc);
	for (uint32_t b = p->block; b < p->block + p->nblock; b++)
		if (d->s->block_known[b] && d->s->block[b])
			add_block(d, p, b);
}

void events_derive(const struct image_events *x, const struct solved *s,
		   struct event_totals *t)
{
	struct derivation d = {.x = x, .s = s, .t = t};

	for (uint32_t p = 0; p < s->m->proc.n; p++)
		if (!s->idle[p])
			add_proc(&d, p);
}

void event_totals_free(struct event_totals *t)
{
	vec_free(&t->varies);
}
