/*
 * lost_counts: a thread that ended in the middle of a block did not run the
 * rest of its instructions. Which blocks fall short, from which instruction on,
 * and how often.
 */
#include "count/solve/solve_int.h"

#include <stdlib.h>

#include "base/bisect.h"

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

/* what an ending means, whichever block of the map holds it */
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
