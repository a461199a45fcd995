/*
 * draw_sites: indirect jumps and calls, and which of them tell where they lead
 * if pairs are wanted. A jump through a table of its own has an edge to every
 * target, which tells as much; one that shares its targets (a hub) does not.
 */
#include "count/draw_int.h"

#include "isa/move.h"
#include "rewrite/spot.h"

/* what the jump or call at j->at reads; false: a gate cannot tell its target */
static bool read_jump(const struct pen *n, const struct block *k,
		      struct hooks_jump *j)
{
	const struct table_copy *x = tables_at(&n->d->s->tables, k->start);
	struct insn in;
	size_t avail;
	const uint8_t *code = image_at(n->c->image, j->at, &avail);

	j->table = x && x->j.jump == j->at;
	if (j->table) {
		j->index = x->j.index;
		j->reads = (regset)1 << j->index;
		return true;
	}
	n->c->isa->decode(code, avail, j->at, &in);
	return n->c->isa->move->jump_reads(code, &in, &j->reads);
}

/* can code before the end of block k tell? Fills *j */
static bool can_tell(const struct pen *n, const struct block *k,
		     struct hooks_jump *j)
{
	struct insertion i;

	/* there may be no room for a gate on a goroutine's stack */
	if (!n->c->isa->move->tell || j->number >= HOOKS_JUMPS ||
	    cfg_is_go(n->c, k->start) || !read_jump(n, k, j))
		return false;
	i = hooks_jump_insertion(n->c->isa, j);
	return !survey_obstacle(n->d->s, &i);
}

static void add_site(struct pen *n, uint32_t b)
{
	const struct block *k = &n->c->block.at[b];
	uint32_t v = pen_last(n, b);
	struct map_site s = {.block = n->p.block + v,
			     .call = k->last == INSN_ICALL};
	struct hooks_jump j;

	if (n->d->pairs && (s.call || !map_edges_tell(n->d->m, &n->p, v))) {
		j = (struct hooks_jump){
			.at = marks_last(&n->d->s->marks, n->c, b),
			.number = (uint32_t)n->d->m->site.n,
		};
		s.pairs = can_tell(n, k, &j);
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
