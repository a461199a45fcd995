/* lost_counts: see lost_counts.h. */
#include "count/solve/lost_counts.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "count/map/map_graph.h"
#include "count/solve/solve_int.h"

/* the number of the block's instruction at the address, or MAP_NONE */
static uint32_t insn_at(const struct map *m, const struct map_block *b,
			uint64_t address)
{
	uint64_t at = b->start;
	uint32_t i = 0;

	for (; i < b->ninsn && at < address; i++)
		at += m->insn_size ? m->insn_size : m->length.at[b->length + i];
	return i < b->ninsn && at == address ? i : MAP_NONE;
}

/* what an ending means for the block of p that holds it; false: none does */
static bool fall_short_in(const struct map *m, const struct map_proc *p,
			  const struct ending *e, struct lost_counts *f)
{
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &m->block.at[i];
		uint32_t insn = MAP_NONE;

		if (e->address >= b->start && e->address - b->start < b->size)
			insn = insn_at(m, b, e->address);
		if (insn == MAP_NONE)
			continue;
		*f = (struct lost_counts){i, insn + e->ran, e->count};
		return true;
	}
	return false;
}

/* the same for all blocks */
static bool fall_short(const struct map *m, const struct ending *e,
		       struct lost_counts *f)
{
	for (uint32_t i = 0; i < m->proc.n; i++) {
		if (!map_may_hold(m, i, e->address))
			continue;
		map_need(m, i);
		if (fall_short_in(m, &m->proc.at[i], e, f))
			return true;
	}
	return false;
}

static int by_block(const void *a, const void *b)
{
	const struct lost_counts *f = a, *g = b;

	if (f->block != g->block)
		return f->block < g->block ? -1 : 1;
	return f->from < g->from ? -1 : f->from > g->from;
}

void lost_counts_find(struct arena *a, const struct map *m,
		      const struct endings *endings, struct solved *s)
{
	size_t n = endings ? endings->v.n : 0;

	s->lost_counts = ARENA_ARRAY(a, struct lost_counts, n);
	for (size_t i = 0; i < n; i++)
		s->nlost_counts += fall_short(m, &endings->v.at[i],
					      &s->lost_counts[s->nlost_counts]);
	if (s->nlost_counts)
		qsort(s->lost_counts, s->nlost_counts, sizeof *s->lost_counts,
		      by_block);
}

uint32_t lost_counts_first(const struct solved *s, uint32_t block)
{
	uint32_t i;

	bisect(i, s->nlost_counts, s->lost_counts[i].block < block);
	return i;
}

uint64_t lost_counts_insns(const struct solved *s, const struct map *m,
			   uint32_t i)
{
	const struct lost_counts *f = &s->lost_counts[i];

	if (!s->block_known[f->block])
		return 0;
	return f->count * (m->block.at[f->block].ninsn - f->from);
}

uint64_t solved_insn(const struct solved *s, uint32_t block, uint32_t i)
{
	uint64_t n = s->block[block];

	for (uint32_t k = lost_counts_first(s, block);
	     k < s->nlost_counts && s->lost_counts[k].block == block &&
	     s->lost_counts[k].from <= i;
	     k++)
		n -= s->block_known[block] ? s->lost_counts[k].count : 0;
	return n;
}

uint64_t solved_insns(const struct solved *s, const struct map *m,
		      uint32_t block)
{
	/* solve_sum() made sure that it fits */
	uint64_t n = s->block[block] * m->block.at[block].ninsn;

	for (uint32_t k = lost_counts_first(s, block);
	     k < s->nlost_counts && s->lost_counts[k].block == block; k++)
		n -= lost_counts_insns(s, m, k);
	return n;
}

/*
 * solve_here: results of a procedure's blocks and edges take memory only while
 * a caller looks at them.
 */

enum { MANY = 1 << 14 }; /* blocks and edges to have at once */

/* memory of the procedure's results may be used */
void solve_recall(const struct solved *s, const struct map_proc *p)
{
	mem_recall(s->block + p->block, p->nblock * sizeof *s->block);
	mem_recall(s->block_known + p->block, p->nblock);
	mem_recall(s->edge + p->edge, p->nedge * sizeof *s->edge);
	mem_recall(s->edge_known + p->edge, p->nedge);
	mem_recall(s->arrival + p->edge, p->nedge);
}

/* what is inside of procedures from .. end-1 is not needed any more */
void solve_drop(const struct solved *s, uint32_t from, uint32_t end)
{
	const struct map_proc *p, *q;
	size_t nblock, nedge;

	if (!s->m->store || from == end)
		return;
	p = &s->m->proc.at[from];
	q = &s->m->proc.at[end - 1];
	nblock = q->block + q->nblock - p->block;
	nedge = q->edge + q->nedge - p->edge;
	mem_forget(s->block + p->block, nblock * sizeof *s->block);
	mem_forget(s->block_known + p->block, nblock);
	mem_forget(s->edge + p->edge, nedge * sizeof *s->edge);
	mem_forget(s->edge_known + p->edge, nedge);
	mem_forget(s->arrival + p->edge, nedge);
	memset(s->here + from, false, end - from);
	map_forget(s->m, from, end);
}

void solve_open_next(struct solver *k)
{
	if (k->held >= MANY) {
		solve_drop(k->s, k->first, k->proc);
		k->held = 0;
	}
	if (!k->held)
		k->first = k->proc;
	k->held += k->p->nblock + k->p->nedge;
	map_need(k->m, k->proc);
	solve_recall(k->s, k->p);
}

void solve_drop_last(struct solver *k)
{
	if (k->held)
		solve_drop(k->s, k->first, k->proc + 1);
	k->held = 0;
}

void solve_load(const struct solved *s, uint32_t proc)
{
	const struct map *m = s->m;
	struct solver k = {
		.m = m, .value = s->value, .s = s, .callees = map_callees(m)};
	bool told;

	if (!m->store)
		return;
	map_need(m, proc);
	if (s->here[proc])
		return;
	told = s->consistent[proc];
	solve_at(&k, proc);
	solve_recall(s, k.p);
	if (s->idle[proc])
		solve_nothing_ran(&k);
	else if (k.p->stub)
		solve_stub(s, proc);
	else
		solve_proc(&k);
	if (!told) {
		solve_forget(&k);
		solve_forget_inside(&k);
	}
	map_inside_free(&k.inside);
	s->here[proc] = true;
	*s->held += k.p->nblock + k.p->nedge;
}

void solve_load_next(const struct solved *s, uint32_t proc)
{
	if (s->m->store && *s->held >= MANY) {
		solve_drop(s, 0, (uint32_t)s->m->proc.n);
		*s->held = 0;
	}
	solve_load(s, proc);
}
