/*
 * change_edges: which edges ran more or less often, between runs and between
 * builds.
 */
#include "report/diff/change_int.h"
#include "report/diff/match_edges.h"
#include "report/walk.h"

/* a procedure that is in both, or in one: then the other has no map */
struct both {
	const struct counts_image *m, *n;
	const struct map_proc *p, *q; /* NULL: it is not there */
};

static struct both both_of(const struct changer *c, const struct change *x)
{
	struct both k = {0};

	if (x->a != MATCH_NONE) {
		k.m = change_image_a(c->m, x);
		k.p = &k.m->map->proc.at[x->a];
	}
	if (x->b != MATCH_NONE) {
		k.n = change_image_b(c->m, x);
		k.q = &k.n->map->proc.at[x->b];
	}
	return k;
}

/* requires: it is in both; to be freed */
static uint32_t *edges_of(const struct both *k, const uint32_t *block)
{
	uint32_t *to = NEW_ARRAY(uint32_t, k->p->nedge + 1);

	match_edges(k->m->map, k->p, k->n->map, k->q, block, to);
	return to;
}

uint32_t change_count_edges(const struct changer *c, const struct change *x,
			    const uint32_t *block)
{
	struct both k = both_of(c, x);
	uint32_t *to = edges_of(&k, block), n = 0;

	for (uint32_t i = 0; i < k.p->nedge; i++) {
		const struct solved *s = &k.m->solved, *t = &k.n->solved;
		uint32_t d = k.p->edge + i, e = k.q->edge + to[i];

		n += to[i] != MATCH_NONE && s->edge_known[d] &&
		     t->edge_known[e] && s->edge[d] != t->edge[e];
	}
	mem_free(to);
	return n;
}

static struct side_count edge_of(const struct counts_image *m, uint32_t edge)
{
	struct side_count c = {.there = edge != MATCH_NONE};

	if (c.there) {
		c.n = m->solved.edge[edge];
		c.known = m->solved.edge_known[edge];
	}
	return c;
}

const char *change_edge_name(const struct match *m, const struct change *x)
{
	return x->part_b != MATCH_NONE ?
		       edge_name(change_image_b(m, x), x->part_b) :
		       edge_name(change_image_a(m, x), x->part_a);
}

/* an edge that calls another procedure than before has changed */
static enum change_code code_of_edge(const struct changer *c,
				     const struct change *x)
{
	const struct map *m = change_image_a(c->m, x)->map;
	const struct map *n = change_image_b(c->m, x)->map;
	uint64_t before = m->edge.at[x->part_a].callee;
	uint64_t after = n->edge.at[x->part_b].callee;
	uint32_t p = before ? map_proc_at(m, before) : MATCH_NONE;

	if (!before || !after || p == MATCH_NONE)
		return !before == !after ? CODE_SAME : CODE_CHANGED;
	return c->m->v.at[x->image].to[p] == map_proc_at(n, after) ? CODE_SAME :
								 CODE_CHANGED;
}

static void add_edge(struct changer *c, struct change x)
{
	x.code = x.part_a == MATCH_NONE ? CODE_ONLY_AFTER :
		 x.part_b == MATCH_NONE ? CODE_ONLY_BEFORE :
					  code_of_edge(c, &x);
	x.before = edge_of(change_image_a(c->m, &x), x.part_a);
	x.after = edge_of(change_image_b(c->m, &x), x.part_b);
	change_add(c, x);
}

void change_add_edges(struct changer *c, struct change x)
{
	struct both k = both_of(c, &x);
	uint32_t *block = k.p && k.q ? change_blocks_of(c, &x) : NULL;
	uint32_t *to = block ? edges_of(&k, block) : NULL;
	bool *taken = NEW_ARRAY(bool, k.q ? k.q->nedge + 1 : 1);

	for (uint32_t i = 0; k.p && i < k.p->nedge; i++) {
		bool found = to && to[i] != MATCH_NONE;

		x.part_a = k.p->edge + i;
		x.part_b = found ? k.q->edge + to[i] : MATCH_NONE;
		if (found)
			taken[to[i]] = true;
		add_edge(c, x);
	}
	x.part_a = MATCH_NONE;
	for (uint32_t i = 0; k.q && i < k.q->nedge; i++) {
		x.part_b = k.q->edge + i;
		if (!taken[i])
			add_edge(c, x);
	}
	mem_free(taken);
	mem_free(to);
	mem_free(block);
}
