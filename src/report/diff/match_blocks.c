/* match_blocks: see match_blocks.h. */
#include "report/diff/match_blocks.h"

#include <stdlib.h>

#include "abi/hash.h"

enum {
	ROUNDS = 3,
	/* how often neighbours of what was matched last are looked at */
	STEPS = 64,
};

#define SEVERAL (MATCH_NONE - 1)

/* one of the two */
struct side {
	const struct map *map;
	const struct map_proc *p;
	uint64_t *label[ROUNDS + 1]; /* by block, of each round */
	uint32_t *match;	     /* its counterpart */
	uint32_t *near; /* by block and kind of edge: the neighbour without
			   counterpart; MATCH_NONE: none, SEVERAL */
};

struct matcher {
	struct side a, b;
	uint32_t matched; /* so far */
	struct arena arena;
};

/* the blocks that an edge joins; false if it does not */
static bool ends_of(const struct side *s, uint32_t edge, uint32_t *from,
		    uint32_t *to)
{
	const struct map_edge *d = &s->map->edge.at[edge];
	bool back = d->kind == MAP_BACK || d->kind == MAP_PAD;

	*from = back ? d->call : d->from;
	*to = d->to;
	return *from < s->p->nblock && *to < s->p->nblock;
}

static uint64_t mix(uint64_t label, unsigned kind, bool out)
{
	uint64_t field[2] = {label, kind << 1 | out};

	return hash_bytes(field, sizeof field, 2);
}

/* the labels of round r, from those of the round before */
static void mix_round(struct side *s, unsigned r)
{
	const uint64_t *old = s->label[r - 1];
	uint64_t *new = s->label[r];

	for (uint32_t v = 0; v < s->p->nblock; v++)
		new[v] = hash_bytes(&old[v], sizeof *old, r);
	for (uint32_t e = s->p->edge; e < s->p->edge + s->p->nedge; e++) {
		unsigned kind = s->map->edge.at[e].kind;
		uint32_t from, to;

		if (!ends_of(s, e, &from, &to))
			continue;
		new[from] += mix(old[to], kind, true);
		new[to] += mix(old[from], kind, false);
	}
}

/* ways in and out of the procedure are a part of a block's content */
static void add_exits(struct side *s)
{
	const struct map_proc *p = s->p;

	for (uint32_t e = p->edge; e < p->edge + p->nedge; e++) {
		const struct map_edge *d = &s->map->edge.at[e];

		if (d->to == map_exit(p) && d->from < p->nblock)
			s->label[0][d->from] += mix(0, d->kind, true);
		if (d->kind == MAP_ENTRY && d->to < p->nblock)
			s->label[0][d->to] += mix(0, d->kind, false);
	}
}

static void open_side(struct matcher *m, struct side *s,
		      const struct content *x, uint32_t proc)
{
	uint32_t n;

	map_need(x->m->map, proc);
	s->map = x->m->map;
	s->p = &s->map->proc.at[proc];
	n = s->p->nblock;
	for (unsigned r = 0; r <= ROUNDS; r++)
		s->label[r] = ARENA_ARRAY(&m->arena, uint64_t, n + 1);
	s->match = ARENA_ARRAY(&m->arena, uint32_t, n + 1);
	s->near = ARENA_ARRAY(&m->arena, uint32_t, (size_t)n * MAP_KINDS + 1);
	memset(s->match, 0xff, n * sizeof *s->match);
	if (n)
		memcpy(s->label[0], x->block + s->p->block,
		       n * sizeof *x->block);
	add_exits(s);
	for (unsigned r = 1; r <= ROUNDS; r++)
		mix_round(s, r);
}

static void join(void *matcher, uint32_t x, uint32_t y)
{
	struct matcher *m = matcher;

	m->a.match[x] = y;
	m->b.match[y] = x;
	m->matched++;
}

static void list_free_ones(const struct side *s, unsigned round,
			   struct keyed_list *out)
{
	out->v.n = 0;
	for (uint32_t v = 0; v < s->p->nblock; v++) {
		struct keyed k = {s->label[round][v], v};

		if (s->match[v] == MATCH_NONE)
			vec_push(&out->v, k);
	}
}

/* by labels, from those that say most to those that say least */
static void by_label(struct matcher *m, bool groups)
{
	struct keyed_list a = {0}, b = {0};

	for (unsigned r = ROUNDS + 1; r-- > 0;) {
		list_free_ones(&m->a, r, &a);
		list_free_ones(&m->b, r, &b);
		unique_match(&a, &b, groups, join, m);
	}
	vec_free(&a.v);
	vec_free(&b.v);
}

/* notes the neighbours without counterpart of blocks that have one */
static void look_around(struct side *s, bool out)
{
	memset(s->near, 0xff,
	       (size_t)s->p->nblock * MAP_KINDS * sizeof *s->near);
	for (uint32_t e = s->p->edge; e < s->p->edge + s->p->nedge; e++) {
		uint32_t from, to, u, v, *near;

		if (!ends_of(s, e, &from, &to))
			continue;
		u = out ? from : to;
		v = out ? to : from;
		if (s->match[u] == MATCH_NONE || s->match[v] != MATCH_NONE)
			continue;
		near = &s->near[(size_t)u * MAP_KINDS +
				s->map->edge.at[e].kind];
		*near = *near == MATCH_NONE || *near == v ? v : SEVERAL;
	}
}

/* one step from what has a counterpart to what has none */
static void step(struct matcher *m, bool out, bool alike)
{
	look_around(&m->a, out);
	look_around(&m->b, out);
	for (uint32_t u = 0; u < m->a.p->nblock; u++) {
		uint32_t w = m->a.match[u];

		for (unsigned k = 0; w != MATCH_NONE && k < MAP_KINDS; k++) {
			uint32_t x = m->a.near[(size_t)u * MAP_KINDS + k];
			uint32_t y = m->b.near[(size_t)w * MAP_KINDS + k];

			if (x >= SEVERAL || y >= SEVERAL ||
			    m->a.match[x] != MATCH_NONE ||
			    m->b.match[y] != MATCH_NONE ||
			    (alike && m->a.label[0][x] != m->b.label[0][y]))
				continue;
			join(m, x, y);
		}
	}
}

static void by_neighbour(struct matcher *m, bool alike)
{
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t before = m->matched;

		step(m, true, alike);
		step(m, false, alike);
		if (m->matched == before)
			break;
	}
}

void match_blocks(const struct content *x, uint32_t p,
		  const struct content *y, uint32_t q, uint32_t *to)
{
	struct matcher m = {0};

	open_side(&m, &m.a, x, p);
	open_side(&m, &m.b, y, q);
	by_label(&m, false);
	by_neighbour(&m, true);
	by_label(&m, true);
	by_neighbour(&m, false);
	if (m.a.p->nblock)
		memcpy(to, m.a.match, m.a.p->nblock * sizeof *to);
	arena_free(&m.arena);
}

/* --- unique */

static int by_key(const void *a, const void *b)
{
	const struct keyed *p = a, *q = b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->item < q->item ? -1 : p->item > q->item;
}

static void sort(struct keyed_list *l)
{
	if (l->v.n)
		qsort(l->v.at, l->v.n, sizeof *l->v.at, by_key);
}

/* how many from i on have its key */
static size_t group(const struct keyed_list *l, size_t i)
{
	size_t end = i;

	while (end < l->v.n && l->v.at[end].key == l->v.at[i].key)
		end++;
	return end - i;
}

void unique_match(struct keyed_list *a, struct keyed_list *b, bool groups,
		  void (*match)(void *ctx, uint32_t x, uint32_t y), void *ctx)
{
	size_t i = 0, k = 0;

	sort(a);
	sort(b);
	while (i < a->v.n && k < b->v.n) {
		uint64_t x = a->v.at[i].key, y = b->v.at[k].key;
		size_t n = group(a, i), m = group(b, k);

		if (x == y && n == m && (n == 1 || groups))
			for (size_t g = 0; g < n; g++)
				match(ctx, a->v.at[i + g].item,
				      b->v.at[k + g].item);
		i += x <= y ? n : 0;
		k += y <= x ? m : 0;
	}
}
