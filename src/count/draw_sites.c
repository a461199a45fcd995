/*
 * draw_sites: indirect jumps and calls, and which of them tell where they lead
 * if pairs are wanted. A jump through a table of its own has an edge to every
 * target, which tells as much; one that shares its targets (a hub) does not.
 */
#include "count/draw_int.h"

#include "rewrite/spot.h"

/* all ways out of vertex v are edges to the targets of its own table */
static bool edges_tell(const struct pen *n, uint32_t v)
{
	const struct map_edge *e = &n->d->m->edge.at[n->p.edge];

	for (uint32_t i = 0; i < n->p.nedge; i++)
		if (e[i].from == v && e[i].kind != MAP_TABLE)
			return false;
	return true;
}

static bool is_copied(const struct survey *s, const struct block *k)
{
	const struct table_copy *x = tables_at(&s->tables, k->start);

	return x && x->j.jump < block_end(k);
}

/* can code before the instruction tell? */
static bool can_tell(const struct pen *n, const struct world_jump *x)
{
	struct insertion i = {.place = PLAN_BEFORE, .at = x->at,
			      .nregs = WORLD_JUMP_REGS, .memory = true};
	struct survey_price price;

	return x->number < WORLD_JUMPS &&
	       !survey_price(n->d->s, &i, &price) &&
	       !(x->table && price.saved);
}

static void add_site(struct pen *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t v = pen_last(n, b);
	struct map_site s = {.block = n->p.block + v,
			     .call = k->last == INSN_ICALL};
	struct world_jump x = {.at = spot_last(n->c, k),
			       .number = (uint32_t)n->d->m->site.n,
			       .table = is_copied(n->d->s, k)};

	s.pairs = n->d->pairs && (s.call || !edges_tell(n, v)) &&
		  can_tell(n, &x);
	if (s.pairs)
		vec_push(&n->d->told, x);
	vec_push(&n->d->m->site, s);
}

void draw_sites(struct pen *n)
{
	for (size_t i = 0; i < n->d->block.n; i++) {
		uint8_t last = n->c->block.at[n->d->block.at[i]].last;

		if (last == INSN_ICALL || last == INSN_IJUMP)
			add_site(n, n->d->block.at[i]);
	}
}
