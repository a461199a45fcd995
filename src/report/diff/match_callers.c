/* match_callers: see match_callers.h. */
#include "report/diff/match_callers.h"

#include "flow/graph.h"

#define SEVERAL (MATCH_NONE - 1)

struct callers {
	const struct content *x, *y;
	uint32_t *to, *from;
	/* by procedure: what is called in its place; MATCH_NONE, SEVERAL */
	uint32_t *there, *back;
	bool *asked; /* by procedure of x: its calls are known */
	struct arena arena;
};

/* the procedure without counterpart that begins there */
static uint32_t callee_at(const struct content *c, uint64_t addr,
			  const uint32_t *match)
{
	uint32_t i = addr ? map_proc_at(c->m->map, addr) : MAP_NONE;

	return i != MAP_NONE && match[i] == MATCH_NONE ? i : MATCH_NONE;
}

/* by block: the procedure that it calls; MATCH_NONE, or SEVERAL */
static uint32_t *callees_of(struct callers *k, const struct content *c,
			    uint32_t proc, const uint32_t *match)
{
	const struct map *m = c->m->map;
	const struct map_proc *p = &m->proc.at[proc];
	uint32_t *out = ARENA_ARRAY(&k->arena, uint32_t, p->nblock + 1);

	memset(out, 0xff, (p->nblock + 1) * sizeof *out);
	for (uint32_t e = p->edge; e < p->edge + p->nedge; e++) {
		const struct map_edge *d = &m->edge.at[e];
		uint32_t callee = callee_at(c, d->callee, match);

		if (callee == MATCH_NONE || d->from >= p->nblock)
			continue;
		out[d->from] = out[d->from] == MATCH_NONE ||
			       out[d->from] == callee ? callee : SEVERAL;
	}
	return out;
}

/* both without a name, or with the same */
static bool same_name(const struct callers *k, uint32_t p, uint32_t q)
{
	const char *x = content_name(k->x->m, p);
	const char *y = content_name(k->y->m, q);

	return x && y ? !strcmp(x, y) : x == y;
}

static void note(uint32_t *one, uint32_t other)
{
	*one = *one == MATCH_NONE || *one == other ? other : SEVERAL;
}

/* what is inside of both is needed */
static void turn(const struct callers *k, uint32_t p, uint32_t q)
{
	map_turn(k->x->m->map, p);
	map_turn(k->y->m->map, q);
}

/* notes what the blocks of a procedure and of its counterpart call */
static void ask(struct callers *k, uint32_t p)
{
	uint32_t q = k->to[p], n = k->x->m->map->proc.at[p].nblock;
	uint32_t *to = ARENA_ARRAY(&k->arena, uint32_t, n + 1), *a, *b;

	turn(k, p, q);
	a = callees_of(k, k->x, p, k->to);
	b = callees_of(k, k->y, q, k->from);
	match_blocks(k->x, p, k->y, q, to);
	for (uint32_t v = 0; v < n; v++) {
		if (to[v] == MATCH_NONE || a[v] >= SEVERAL ||
		    b[to[v]] >= SEVERAL || !same_name(k, a[v], b[to[v]]))
			continue;
		note(&k->there[a[v]], b[to[v]]);
		note(&k->back[b[to[v]]], a[v]);
	}
}

/* enough of their blocks are the same */
static bool are_alike(struct callers *k, uint32_t p, uint32_t q)
{
	const struct map_proc *a = &k->x->m->map->proc.at[p];
	const struct map_proc *b = &k->y->m->map->proc.at[q];
	uint32_t *to = ARENA_ARRAY(&k->arena, uint32_t, a->nblock + 1);
	uint32_t same = 0, n = a->nblock < b->nblock ? a->nblock : b->nblock;

	turn(k, p, q);
	match_blocks(k->x, p, k->y, q, to);
	for (uint32_t v = 0; v < a->nblock; v++)
		same += to[v] != MATCH_NONE &&
			k->x->block[a->block + v] ==
				k->y->block[b->block + to[v]];
	return n && same >= n - n / 2;
}

/* whether any was found */
static bool settle(struct callers *k)
{
	bool any = false;

	for (uint32_t p = 0; p < k->x->m->map->proc.n; p++) {
		uint32_t q = k->there[p];

		if (q >= SEVERAL || k->back[q] != p ||
		    k->to[p] != MATCH_NONE || k->from[q] != MATCH_NONE)
			continue;
		if (content_name(k->x->m, p) || are_alike(k, p, q)) {
			k->to[p] = q;
			k->from[q] = p;
			any = true;
		} else {
			k->there[p] = SEVERAL;
		}
	}
	return any;
}

void match_callers(const struct content *x, uint32_t *to,
		   const struct content *y, uint32_t *from)
{
	uint32_t n = (uint32_t)x->m->map->proc.n;
	struct callers k = {.x = x, .y = y, .to = to, .from = from};

	k.there = graph_nones(&k.arena, n + 1);
	k.back = graph_nones(&k.arena, (uint32_t)y->m->map->proc.n + 1);
	k.asked = ARENA_ARRAY(&k.arena, bool, n + 1);
	do
		for (uint32_t p = 0; p < n; p++)
			if (to[p] != MATCH_NONE && !k.asked[p]) {
				k.asked[p] = true;
				ask(&k, p);
			}
	while (settle(&k));
	arena_free(&k.arena);
}
