/*
 * draw_sites: indirect jumps and calls, and which of them tell where they lead
 * if pairs are wanted. A jump through a table of its own has an edge to every
 * target, which tells as much; one that shares its targets (a hub) does not.
 */
#include "count/draw_int.h"

#include "isa/move.h"
#include "rewrite/spot.h"

/* the jump or call at the end of block k, number `number` */
static struct world_jump jump_of(const struct pen *n, const struct block *k,
				 uint32_t number)
{
	const struct table_copy *x = tables_at(&n->d->s->tables, k->start);
	struct world_jump j = {.at = spot_last(n->c, k), .number = number};
	size_t avail;
	const uint8_t *code = image_at(n->c->image, j.at, &avail);

	j.table = x && x->j.jump == j.at;
	j.reg = j.table ? x->j.index : n->c->isa->move->jump_reg(code);
	return j;
}

/* can code before it tell? */
static bool can_tell(const struct pen *n, const struct world_jump *j)
{
	struct insertion i = world_jump_insertion(j);

	return j->number < WORLD_JUMPS && !survey_obstacle(n->d->s, &i);
}

static void add_site(struct pen *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t v = pen_last(n, b);
	struct map_site s = {.block = n->p.block + v,
			     .call = k->last == INSN_ICALL};
	struct world_jump j;

	if (n->d->pairs && n->c->isa->move->tell && (s.call || !map_edges_tell(n->d->m, &n->p, v))) {
		j = jump_of(n, k, (uint32_t)n->d->m->site.n);
		s.pairs = can_tell(n, &j);
		if (s.pairs)
			vec_push(&n->d->told, j);
	}
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
