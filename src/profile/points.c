/* points: see points.h. */
#include "profile/points.h"

#include <string.h>

/* the first offset that has samples and was not taken yet; false: none has */
static bool next_offset(const struct samples_image *m, size_t events,
			const size_t *taken, uint64_t *offset)
{
	bool any = false;

	for (size_t v = 0; v < events; v++) {
		const run *r = &m->samples[v];

		if (taken[v] < r->n &&
		    (!any || r->at[taken[v]].offset < *offset)) {
			*offset = r->at[taken[v]].offset;
			any = true;
		}
	}
	return any;
}

/* does a block of the procedure hold the address? */
static bool holds(const struct map *m, uint32_t proc, uint64_t address)
{
	const struct map_proc *p = &m->proc.at[proc];
	const struct map_block *b;
	size_t i;

	if (!map_may_hold(m, proc, address))
		return false;
	map_turn(m, proc);
	b = m->block.at + p->block;
	bisect(i, p->nblock, b[i].start <= address);
	return i && address - b[i - 1].start < b[i - 1].size;
}

/*
 * The procedure of the map that an instruction is of: the one before it, as a
 * rule; of code that was not moved, the one that its symbol begins; or any, if
 * a part of it lies elsewhere.
 */
static uint32_t proc_of(const struct map *m, const struct samples_place *at)
{
	uint32_t p;
	size_t i;

	bisect(i, m->proc.n, m->proc.at[i].entry <= at->address);
	if (i && holds(m, (uint32_t)i - 1, at->address))
		return (uint32_t)i - 1;
	p = map_proc_at(m, at->start);
	for (uint32_t k = 0; p == MAP_NONE && k < m->proc.n; k++)
		if (holds(m, k, at->address))
			p = k;
	return p;
}

static int by_procedure(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->proc != q->proc)
		return p->proc < q->proc ? -1 : 1;
	if (p->at.start != q->at.start)
		return p->at.start < q->at.start ? -1 : 1;
	return p->at.address < q->at.address ? -1
					     : p->at.address > q->at.address;
}

void points_make(struct points *p, const struct samples *s,
		 struct samples_image *m, const struct map *map, bool lines)
{
	size_t events = s->event.n, taken[SAMPLES_EVENTS] = {0};
	uint64_t offset = 0;

	if (p->made && (!lines || p->with_lines))
		return;
	points_free(p);
	p->made = true;
	p->with_lines = lines;
	while (next_offset(m, events, taken, &offset)) {
		uint64_t *n = ARENA_ARRAY(&p->arena, uint64_t, events);
		struct point new = {.samples = n};

		for (size_t v = 0; v < events; v++) {
			const run *r = &m->samples[v];

			if (taken[v] < r->n && r->at[taken[v]].offset == offset)
				n[v] = r->at[taken[v]++].count;
		}
		samples_find(m, offset, lines, &new.at);
		new.proc = map ? proc_of(map, &new.at) : MAP_NONE;
		vec_push(&p->v, new);
	}
	mem_sort(p->v.at, p->v.n, sizeof *p->v.at, by_procedure);
}

size_t points_of(const struct points *p, uint32_t proc, size_t *first)
{
	size_t end;

	bisect(*first, p->v.n, p->v.at[*first].proc < proc);
	bisect(end, p->v.n, p->v.at[end].proc <= proc);
	return end - *first;
}

void points_free(struct points *p)
{
	vec_free(&p->v);
	arena_free(&p->arena);
	*p = (struct points){0};
}
