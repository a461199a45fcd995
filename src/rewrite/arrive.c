/*
 * arrive: the old addresses at which control may arrive.
 *
 * By pointers, by jump tables that are not copied, by code that stays. With
 * complete knowledge nobody arrives at any other old address of moved code;
 * every one of them works all the same (text.c), but --trap-unexpected makes
 * those others trap, to show that the knowledge is complete.
 */
#include "rewrite/rewrite_int.h"

static void expect_block(struct rewriter *r, uint32_t b)
{
	uint64_t at = r->c->block.at[b].start;
	uint64_t index = at / r->isa->align - r->arrive_base;

	r->arrive[index / 8] |= (uint8_t)(1 << index % 8);
}

static void expect_addr(struct rewriter *r, uint64_t addr)
{
	uint32_t b = cfg_block_at(r->c, addr);

	if (b != CFG_NONE && r->c->block.at[b].start == addr)
		expect_block(r, b);
}

/* everything that code which stays may branch to or land on */
static void expect_from_part(struct rewriter *r, const struct part *p)
{
	for (uint32_t b = p->block; b < p->block + p->nblock; b++) {
		if (r->c->block.at[b].target)
			expect_addr(r, r->c->block.at[b].target);
		expect_addr(r, block_end(&r->c->block.at[b]));
		for (uint32_t e = r->c->block.at[b].edge;
		     e < cfg_edges_end(r->c, b); e++)
			if (r->c->edge.at[e].kind == EDGE_UNWIND)
				expect_block(r, r->c->edge.at[e].to);
	}
}

static void expect_from_in_place(struct rewriter *r)
{
	size_t next = 0;

	for (uint32_t i = 0; i < r->c->part.n; i++)
		if (next < r->m.moved.n && r->m.moved.at[next].part == i)
			next++;
		else
			expect_from_part(r, &r->c->part.at[i]);
}

/* targets of indirect jumps whose tables are not copied */
static void expect_from_tables(struct rewriter *r)
{
	const struct cfg *c = r->c;
	size_t copied = 0;

	for (uint32_t i = 0; i < c->dispatch.n; i++) {
		const struct dispatch *d = &c->dispatch.at[i];

		if (copied < r->tables.copy.n &&
		    r->tables.copy.at[copied].dispatch == i) {
			copied++;
			continue;
		}
		for (uint32_t k = d->target; k < d->target + d->ntarget; k++)
			expect_addr(r, c->target.at[k]);
	}
}

void arrive_find(struct rewriter *r)
{
	const struct cfg *c = r->c;
	const struct block *last;

	if (!r->m.moved.n)
		return;
	last = &c->block.at[c->block.n - 1];
	r->arrive_base = c->block.at[0].start / r->isa->align;
	r->arrive = mem_zalloc((block_end(last) / r->isa->align -
				r->arrive_base) / 8 + 1, 1);
	for (uint32_t b = 0; b < c->block.n; b++)
		if (c->block.at[b].flags & BLOCK_ENTRY ||
		    c->proc.at[cfg_block_proc(c, b)].unknown)
			expect_block(r, b);
	expect_from_tables(r);
	expect_from_in_place(r);
}

bool arrive_expected(const struct rewriter *r, uint64_t old)
{
	uint64_t index = old / r->isa->align - r->arrive_base;

	return r->arrive[index / 8] >> index % 8 & 1;
}

bool arrive_unknown(const struct rewriter *r, uint64_t old)
{
	uint32_t b = cfg_block_at(r->c, old);

	return b != CFG_NONE && r->c->proc.at[cfg_block_proc(r->c, b)].unknown;
}
