/*
 * draw_stub: the linker's stubs in the map. Moved code calls them, or a copy
 * that does the same (rewrite/plt_stubs.h), directly. Code that stays may come
 * as well: how often such stubs run is not known. In ET_EXEC files an address
 * may be the function's and its stub's: that moves, and is drawn like others.
 */
#include "count/draw_int.h"

#include "base/bisect.h"

static void share(struct drawing *d, uint64_t entry)
{
	const struct procedure *v = d->s->cfg->proc.at;
	size_t i, n = d->s->cfg->proc.n;

	bisect(i, n, v[i].entry < entry);
	if (i < n && v[i].entry == entry)
		d->shared[i / 8] |= (uint8_t)(1 << i % 8);
}

/* marks procedures that code which stays in place calls or jumps to */
static void find_shared(struct drawing *d)
{
	const struct cfg *c = d->s->cfg;

	d->shared = mem_zalloc(c->proc.n / 8 + 1, 1);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].target && !survey_moves(d->s, b))
			share(d, c->block.at[b].target);
}

static bool shared(struct drawing *d, uint32_t p)
{
	if (!d->shared)
		find_shared(d);
	return d->s->cfg->proc.at[p].addressed ||
	       d->shared[p / 8] >> p % 8 & 1;
}

bool draw_stub(struct drawing *d, uint32_t p)
{
	const struct cfg *c = d->s->cfg;
	const struct procedure *q = &c->proc.at[p];
	uint32_t b = cfg_block_at(c, q->entry);
	struct pen n;

	if (!q->stub || b == CFG_NONE || survey_moves(d->s, b) ||
	    c->block.at[b].start != q->entry || shared(d, p))
		return false;
	n = pen_begin(d, p);
	n.p.stub = true;
	pen_block(&n, b);
	pen_edge(&n, MAP_ENTRY, EXIT_MARK, 0, (struct way){0});
	pen_edge(&n, MAP_TAIL, 0, EXIT_MARK, (struct way){0});
	pen_finish(&n);
	return true;
}
