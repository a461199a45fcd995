/*
 * jump_tables: see jump_tables.h.
 */
#include "rewrite/survey/jump_tables.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/parallel.h"
#include "cfg/live/own_reads.h"

/* what is larger is no jump table */
enum { COUNT_MAX = 32 * 1024 };
/* fewer are not worth a thread */
enum { SHARE_DISPATCHES = 500 };

/* what is live at any target of the block's jump */
static regset live_at_targets(const struct cfg *c, const struct live *l,
			      uint32_t block)
{
	regset live = 0;

	for (uint32_t e = c->block.at[block].edge; e < cfg_edges_end(c, block);
	     e++)
		live |= live_on_edge(l, e).regs;
	return live;
}

/*
 * May the registers that held an entry, a base or the target hold anything
 * else? Yes, unless the procedure itself reads them again: no compiler passes
 * such a value to another procedure, or returns it.
 */
static bool can_lose(const struct cfg *c, struct own_reads *own, regset lost,
		     regset live, uint32_t block)
{
	if (lost & ~c->isa->scratch)
		return false;
	if (c->proc.at[cfg_block_proc(c, block)].open)
		return !(lost & live); /* not all that it reads is seen */
	return !(lost & own_reads_behind(own, block));
}

/* two dead registers, the second perhaps the index's; false: none are */
static bool choose_registers(const struct isa *isa, struct table_copy *x,
			     regset live)
{
	regset index = (regset)1 << x->j.index;
	regset dead = (isa->scratch & ~live) | x->j.lost;
	regset first = dead & ~index;

	if (!first)
		return false;
	x->reg[0] = (uint8_t)__builtin_ctz(first);
	dead &= ~((regset)1 << x->reg[0]);
	if (!dead)
		return false;
	x->reg[1] = (uint8_t)__builtin_ctz(dead);
	return true;
}

static bool match(const struct cfg *c, const struct dispatch *d,
		  struct table_copy *x)
{
	const struct block *b = &c->block.at[d->block];
	size_t avail;
	const uint8_t *code = image_at(c->image, b->start, &avail);

	x->j.load = d->load;
	x->first = (int64_t)(d->table - d->load_base) / d->entry_size;
	return d->load >= b->start && d->load < block_end(b) &&
	       d->load_base + (uint64_t)x->first * d->entry_size == d->table &&
	       llabs(x->first) < TABLE_FIRST_MAX && d->count < COUNT_MAX &&
	       c->isa->move->table_match(code, b->size, b->start, d->load_reg,
					 &x->j);
}

static bool complete(const struct cfg *c, const struct dispatch *d)
{
	uint64_t to;

	for (uint32_t i = 0; i < d->count; i++)
		if (!cfg_table_entry(c, d, i, &to))
			return false;
	return true;
}

static void take_place(struct tables *t, uint64_t at, bool jump)
{
	struct table_part p = {at, (uint32_t)t->copy.n - 1, jump};

	if (at)
		vec_push(&t->part, p);
}

static int by_address(const void *a, const void *b)
{
	const struct table_part *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* can the dispatch's table be copied? */
static bool copies(struct table_copy *x, const struct cfg *c,
		   const struct live *l, struct own_reads *own)
{
	const struct dispatch *d = &c->dispatch.at[x->dispatch];
	regset live;

	if (!match(c, d, x) || !complete(c, d))
		return false;
	live = live_at_targets(c, l, d->block);
	return can_lose(c, own, x->j.lost, live, d->block) &&
	       choose_registers(c->isa, x, live);
}

/* a share of the dispatches */
struct share {
	const struct cfg *c;
	const struct live *l;
	const struct moves *m;
	const struct labels *labels;
	uint32_t from, end;
	struct tables found;
};

static void *find_share(void *arg)
{
	struct share *s = arg;
	const struct cfg *c = s->c;
	struct own_reads own;

	own_reads_init(&own, s->l);
	for (uint32_t i = s->from; i < s->end; i++) {
		const struct dispatch *d = &c->dispatch.at[i];
		struct table_copy x = {.dispatch = i};

		if (d->status > DISPATCH_APPROXIMATED || !d->load ||
		    !moves_part(s->m, c->block.at[d->block].part) ||
		    computed_goto_of(s->labels, d) ||
		    !copies(&x, c, s->l, &own))
			continue;
		vec_push(&s->found.copy, x);
		for (int k = 0; k < TABLE_JUMP_DROPS; k++)
			take_place(&s->found, x.j.drop[k], false);
		take_place(&s->found, x.j.jump, true);
	}
	own_reads_free(&own);
	return NULL;
}

static void take_share(struct tables *t, struct tables *found)
{
	for (size_t i = 0; i < found->part.n; i++)
		found->part.at[i].copy += (uint32_t)t->copy.n;
	vec_take(&t->copy, &found->copy);
	vec_take(&t->part, &found->part);
}

void tables_find(struct tables *t, const struct cfg *c, const struct live *l,
		 const struct moves *m, const struct labels *labels)
{
	size_t all = c->dispatch.n;
	unsigned n = parallel_count(all, SHARE_DISPATCHES);
	struct share share[PARALLEL_MAX];

	for (unsigned i = 0; i < n; i++)
		share[i] = (struct share){c, l, m, labels,
					  (uint32_t)(all * i / n),
					  (uint32_t)(all * (i + 1) / n),
					  {.copy = {0}}};
	parallel_run(find_share, share, sizeof *share, n);
	for (unsigned i = 0; i < n; i++)
		take_share(t, &share[i].found);
	if (t->part.n)
		qsort(t->part.at, t->part.n, sizeof *t->part.at, by_address);
}

void tables_free(struct tables *t)
{
	vec_free(&t->copy);
	vec_free(&t->part);
}

const struct table_copy *tables_at(const struct tables *t, uint64_t at)
{
	size_t i;

	bisect(i, t->copy.n, t->copy.at[i].j.jump < at);
	return i < t->copy.n ? &t->copy.at[i] : NULL;
}

regset tables_keep(const struct tables *t, uint64_t at)
{
	const struct table_copy *x = tables_at(t, at);

	return x && at > x->j.load ? (regset)1 << x->j.index : 0;
}

const struct dispatch *tables_dispatch(const struct cfg *c, uint32_t block)
{
	const struct block *b = &c->block.at[block];
	const struct dispatch *d = c->dispatch.at;
	size_t i;

	bisect(i, c->dispatch.n, d[i].addr < b->start);
	return i < c->dispatch.n && d[i].addr < block_end(b) ? &d[i] : NULL;
}
