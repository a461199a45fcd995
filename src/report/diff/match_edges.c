/* match_edges: see match_edges.h. */
#include "report/diff/match_edges.h"

#include "report/diff/match_blocks.h"
#include "abi/hash.h"

/*
 * The vertex of q that one of p is; MATCH_NONE: none. Hubs have no content,
 * only a place among the others: if there are as many.
 */
static uint32_t vertex_to(const struct map_proc *p, const struct map_proc *q,
			  const uint32_t *block, uint32_t v)
{
	if (v < p->nblock)
		return block[v];
	if (v == map_exit(p))
		return map_exit(q);
	return p->nhub == q->nhub ? v - p->nblock + q->nblock : MATCH_NONE;
}

static bool comes_back(const struct map_edge *d)
{
	return d->kind == MAP_BACK || d->kind == MAP_PAD;
}

static uint64_t key_of(const struct map_edge *d, uint32_t from, uint32_t to,
		       uint32_t call)
{
	uint32_t field[4] = {d->kind, from, to, comes_back(d) ? call : 0};

	return hash_bytes(field, sizeof field, 3);
}

/* p's edges, with the keys that their counterparts in q have */
static void list_translated(const struct map *m, const struct map_proc *p,
			    const struct map_proc *q, const uint32_t *block,
			    struct keyed_list *out)
{
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct map_edge *d = &m->edge.at[p->edge + i];
		uint32_t from = vertex_to(p, q, block, d->from);
		uint32_t to = vertex_to(p, q, block, d->to);
		uint32_t call = comes_back(d) && d->call < p->nblock ?
					block[d->call] : MATCH_NONE;
		struct keyed k = {key_of(d, from, to, call), i};

		if (from != MATCH_NONE && to != MATCH_NONE)
			vec_push(&out->v, k);
	}
}

static void list_own(const struct map *n, const struct map_proc *q,
		     struct keyed_list *out)
{
	for (uint32_t i = 0; i < q->nedge; i++) {
		const struct map_edge *d = &n->edge.at[q->edge + i];
		struct keyed k = {key_of(d, d->from, d->to, d->call), i};

		vec_push(&out->v, k);
	}
}

static void join(void *to, uint32_t x, uint32_t y)
{
	((uint32_t *)to)[x] = y;
}

/* whether all is where it was: then nothing needs to be searched */
static bool is_identical(const struct map *m, const struct map_proc *p,
			 const struct map *n, const struct map_proc *q,
			 const uint32_t *block)
{
	if (p->nblock != q->nblock || p->nhub != q->nhub ||
	    p->nedge != q->nedge)
		return false;
	for (uint32_t v = 0; v < p->nblock; v++)
		if (block[v] != v)
			return false;
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct map_edge *d = &m->edge.at[p->edge + i];
		const struct map_edge *e = &n->edge.at[q->edge + i];

		if (d->kind != e->kind || d->from != e->from ||
		    d->to != e->to || d->call != e->call)
			return false;
	}
	return true;
}

void match_edges(const struct map *m, const struct map_proc *p,
		 const struct map *n, const struct map_proc *q,
		 const uint32_t *block, uint32_t *to)
{
	struct keyed_list a = {0}, b = {0};

	if (is_identical(m, p, n, q, block)) {
		for (uint32_t i = 0; i < p->nedge; i++)
			to[i] = i;
		return;
	}
	memset(to, 0xff, p->nedge * sizeof *to);
	list_translated(m, p, q, block, &a);
	list_own(n, q, &b);
	unique_match(&a, &b, true, join, to);
	vec_free(&a.v);
	vec_free(&b.v);
}
