/* by_address: see by_address.h. */
#include "report/by_address.h"

static int by_start(const void *a, const void *b)
{
	const struct block_run *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

/* the runs of a procedure; apart: each block is one of its own */
static void add_runs(struct block_runs *r, const struct map_proc *p,
		     uint32_t proc, const struct map_block *b, bool apart)
{
	struct block_run *last = NULL;

	for (uint32_t i = p->block; i < p->block + p->nblock; i++, b++) {
		struct block_run x = {b->start, b->start + b->size, proc, i,
				      i};

		if (!apart && last && last->end == b->start) {
			last->end = x.end;
			last->last = i;
			continue;
		}
		vec_push(&r->v, x);
		last = &r->v.at[r->v.n - 1];
	}
}

static void list(struct block_runs *r, const struct counts_image *m, bool all,
		 bool apart)
{
	struct map_inside inside = {0};
	uint64_t n;

	r->v.n = 0;
	for (uint32_t i = 0; i < m->map->proc.n; i++) {
		if (!all && counts_instructions(m, i, &n) && !n)
			continue;
		map_look(m->map, i, &inside);
		add_runs(r, &m->map->proc.at[i], i, inside.block, apart);
	}
	map_inside_free(&inside);
	mem_sort(r->v.at, r->v.n, sizeof *r->v.at, by_start);
}

/* code that is read in two ways, from one byte and from the next */
static bool overlap(const struct block_runs *r)
{
	for (size_t i = 1; i < r->v.n; i++)
		if (r->v.at[i].start < r->v.at[i - 1].end)
			return true;
	return false;
}

void block_runs_make(struct block_runs *r, const struct counts_image *m,
		     bool all)
{
	*r = (struct block_runs){0};
	list(r, m, all, false);
	if (overlap(r))
		list(r, m, all, true);
}

void block_runs_free(struct block_runs *r)
{
	vec_free(&r->v);
}
