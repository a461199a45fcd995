/* plan: see plan.h. */
#include "trace/regenerate/plan.h"

#include <stdlib.h>
#include <string.h>

/* the map forgets what is inside of procedures */
static void copy_inside(struct proc_plan *k, const struct map *m,
			uint32_t proc)
{
	const struct map_proc *p = k->p;
	struct map_inside x = {0};

	map_look(m, proc, &x);
	k->block = ARENA_ARRAY(&k->arena, struct map_block, p->nblock + 1);
	k->edge = ARENA_ARRAY(&k->arena, struct map_edge, p->nedge + 1);
	memcpy(k->block, x.block, p->nblock * sizeof *k->block);
	memcpy(k->edge, x.edge, p->nedge * sizeof *k->edge);
	map_inside_free(&x);
}

static void find_heights(struct proc_plan *k)
{
	k->arrives = ARENA_ARRAY(&k->arena, struct map_height, k->t.g.nv);
	k->leaves = ARENA_ARRAY(&k->arena, struct map_height, k->t.g.nv);
	for (uint32_t e = 0; e < k->p->nedge; e++) {
		const struct map_edge *d = &k->edge[e];

		if (d->kind == MAP_ENTRY && d->to != k->p->root)
			continue; /* it need not be as at the entry */
		if (d->kind >= MAP_BACK)
			k->arrives[d->to] = d->height;
		else if (d->kind >= MAP_CALL)
			k->leaves[d->from] = d->height;
	}
}

/* --- slices */

/* the operations of a block of so many instructions; false: they are not
   right */
static bool read_slice(struct proc_plan *k, struct bytes *b, uint32_t ninsn,
		       struct exec_block *to)
{
	VEC(struct slice_op) op = {0};
	uint64_t insn = 0;
	bool good = true;

	do {
		struct slice_op x;

		good = slice_take(b, &x);
		insn += x.code == SLICE_SKIP ? x.skip : 0;
		good &= insn <= ninsn;
		if (good)
			vec_push(&op, x);
	} while (good && op.at[op.n - 1].code != SLICE_END);
	if (good)
		*to = exec_make(&k->arena, op.at);
	vec_free(&op);
	return good;
}

static bool read_edges(struct proc_plan *k, struct bytes *b)
{
	uint64_t n = bytes_uleb(b), e = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t step = bytes_uleb(b);

		e += step;
		if (b->bad || step > k->p->nedge || e >= k->p->nedge ||
		    !read_slice(k, b, 0, &k->values[e]))
			return false;
	}
	return !b->bad && !bytes_left(b);
}

static void read_slices(struct proc_plan *k, uint32_t proc)
{
	struct map_slice_bytes s = map_slices(k->map, proc);
	struct bytes b = bytes_window(s.at, s.n, 0);
	bool good = true;

	if (!s.n)
		return;
	k->slice = ARENA_ARRAY(&k->arena, struct exec_block, k->p->nblock);
	k->values = ARENA_ARRAY(&k->arena, struct exec_block,
				k->p->nedge + 1);
	for (uint32_t v = 0; good && v < k->p->nblock; v++)
		good = read_slice(k, &b, k->block[v].ninsn, &k->slice[v]);
	if (!good || !read_edges(k, &b))
		k->slice = k->values = NULL;
}

struct proc_plan *plan_make(const struct map *m, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];
	struct proc_plan *k = NEW_ARRAY(struct proc_plan, 1);

	k->map = m;
	k->p = p;
	if (p->unknown || p->stub || !p->nblock) {
		plan_free(k);
		return NULL;
	}
	copy_inside(k, m, proc);
	trace_graph_make(&k->arena, p, k->edge, &k->t);
	k->on = ARENA_ARRAY(&k->arena, bool, k->t.g.ne);
	k->back = graph_nones(&k->arena, k->t.g.nv);
	k->entry = graph_nones(&k->arena, k->t.g.nv);
	k->choice = ARENA_ARRAY(&k->arena, struct choices, k->t.g.nv);
	find_heights(k);
	k->runs = ARENA_ARRAY(&k->arena, struct runs, k->t.g.nv);
	k->ran = ARENA_ARRAY(&k->arena, uint64_t, p->nedge + 1);
	for (uint32_t e = 0; e < p->nedge; e++) {
		const struct map_edge *d = &k->edge[e];

		k->on[e] = d->ncode;
		if (d->kind == MAP_BACK && d->call < p->nblock)
			k->back[d->call] = e;
		if (d->kind == MAP_ENTRY)
			k->entry[d->to] = e;
	}
	read_slices(k, proc);
	return k;
}

void plan_free(struct proc_plan *k)
{
	if (!k)
		return;
	arena_free(&k->arena);
	mem_free(k);
}

static uint32_t aligned(const struct choice *c)
{
	return (uint32_t)c->code << (CODES_LONGEST - c->length);
}

static int by_code(const void *a, const void *b)
{
	uint32_t x = aligned(a), y = aligned(b);

	return x < y ? -1 : x > y;
}

static void make_quick(struct proc_plan *k, struct choices *c)
{
	unsigned most = 1;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->at[i].length > most)
			most = c->at[i].length;
	c->bits = (uint8_t)(most < QUICK_BITS ? most : QUICK_BITS);
	c->quick = ARENA_ARRAY(&k->arena, const struct choice *,
			       1u << c->bits);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct choice *x = &c->at[i];
		uint32_t code = (uint32_t)x->code, n;

		if (x->length > c->bits)
			continue;
		n = 1u << (c->bits - x->length);
		for (uint32_t j = 0; j < n; j++)
			c->quick[code * n + j] = x;
	}
}

static void find_choices(struct proc_plan *k, uint32_t v, struct choices *c)
{
	struct codes_wanted w = {0};

	c->known = true;
	if (!codes_want(&k->t.g, k->on, v, CODES_MOST, &w))
		w.edge.n = 0;
	c->n = (uint32_t)w.edge.n;
	c->at = ARENA_ARRAY(&k->arena, struct choice, c->n + 1);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct map_edge *d = &k->edge[w.edge.at[i]];
		uint32_t first = w.first.at[i], n = w.first.at[i + 1] - first;
		uint32_t *way = ARENA_ARRAY(&k->arena, uint32_t, n + 1);

		way[0] = w.edge.at[i];
		for (uint32_t j = 0; j < n; j++)
			way[1 + j] = w.way.at[first + j];
		c->at[i] = (struct choice){d->code, d->ncode, n + 1, way};
	}
	qsort(c->at, c->n, sizeof *c->at, by_code);
	make_quick(k, c);
	codes_wanted_free(&w);
}

const struct choices *plan_find_choices(struct proc_plan *k, uint32_t v)
{
	find_choices(k, v, &k->choice[v]);
	return &k->choice[v];
}

const struct choice *plan_choose(const struct choices *c, uint32_t bits,
				 unsigned n, unsigned left)
{
	uint32_t at = bits << (CODES_LONGEST - n), low = 0, high = c->n;
	const struct choice *x;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (aligned(&c->at[mid]) <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	x = &c->at[low - 1];
	return x->length <= left &&
			       at >> (CODES_LONGEST - x->length) == x->code
		       ? x : NULL;
}

uint32_t plan_landing(const struct proc_plan *k, uint32_t vertex)
{
	for (uint32_t e = 0; e < k->p->nedge; e++) {
		const struct map_edge *d = &k->edge[e];

		if (d->to == vertex &&
		    (d->kind == MAP_PAD || d->kind == MAP_BACK))
			return e;
	}
	return MAP_NONE;
}
