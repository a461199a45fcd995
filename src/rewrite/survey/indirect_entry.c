/*
 * indirect_entry: the old addresses at which control may arrive.
 *
 * By pointers, by jump tables that are not copied, by code that stays. With
 * complete knowledge control arrives at no other old address of moved code;
 * every one of them works all the same (old_text.c), but --trap-unexpected
 * makes those others trap, to show that the knowledge is complete.
 */
#include "base/bisect.h"
#include "isa/move.h"
#include "rewrite/survey/survey_int.h"

/* the number of an address's bit; a division would cost more than all else */
static uint64_t bit_of(const struct survey *s, uint64_t at)
{
	return (at - s->entry_base) >> s->entry_shift;
}

static void expect_block(struct survey *s, uint32_t b)
{
	uint64_t at = s->cfg->block.at[b].start;
	uint64_t index = bit_of(s, at);

	s->indirect_entry[index / 8] |= (uint8_t)(1 << index % 8);
}

static void expect_addr(struct survey *s, uint64_t addr)
{
	uint32_t b = cfg_block_at(s->cfg, addr);

	if (b != CFG_NONE && s->cfg->block.at[b].start == addr)
		expect_block(s, b);
}

/* everything that code which stays may branch to or land on */
static void expect_from_part(struct survey *s, const struct part *p)
{
	for (uint32_t b = p->block; b < p->block + p->nblock; b++) {
		if (s->cfg->block.at[b].target)
			expect_addr(s, s->cfg->block.at[b].target);
		expect_addr(s, block_end(&s->cfg->block.at[b]));
		for (uint32_t e = s->cfg->block.at[b].edge;
		     e < cfg_edges_end(s->cfg, b); e++)
			if (s->cfg->edge.at[e].kind == EDGE_UNWIND)
				expect_block(s, s->cfg->edge.at[e].to);
	}
}

static void expect_from_in_place(struct survey *s)
{
	for (uint32_t i = 0; i < s->cfg->part.n; i++)
		if (!moves_part(&s->moves, i))
			expect_from_part(s, &s->cfg->part.at[i]);
}

/* targets of indirect jumps whose tables are not copied */
static void expect_from_tables(struct survey *s)
{
	const struct cfg *c = s->cfg;
	size_t copied = 0;

	for (uint32_t i = 0; i < c->dispatch.n; i++) {
		const struct dispatch *d = &c->dispatch.at[i];

		if (copied < s->tables.copy.n &&
		    s->tables.copy.at[copied].dispatch == i) {
			copied++;
			continue;
		}
		if (computed_goto_of(&s->labels, d))
			continue;
		for (uint32_t k = d->target; k < d->target + d->ntarget; k++)
			expect_addr(s, c->target.at[k]);
	}
}

/* where calls return to that leave their old addresses */
static void expect_from_kept(struct survey *s)
{
	s->kept = false;
	for (uint32_t b = 1; cfg_keeps(s->cfg) && b < s->cfg->block.n; b++)
		if (survey_returns(s, b)) {
			expect_block(s, b);
			s->kept = true;
		}
}

/* a call of the next instruction gets its address, which stays the old one */
static bool asks_address(const struct block *b)
{
	return b->last == INSN_CALL && b->target == block_end(b);
}

/* parts that control may enter anywhere */
static void find_open(struct survey *s)
{
	s->open.n = 0;
	for (size_t i = 0; i < s->moves.moved.n; i++) {
		const struct moved *m = &s->moves.moved.at[i];
		struct range r = {m->old_start, m->old_end};

		if (s->cfg->proc.at[s->cfg->part.at[m->part].proc].open)
			vec_push(&s->open, r);
	}
}

void indirect_entry_find(struct survey *s)
{
	const struct cfg *c = s->cfg;
	const struct block *last;

	if (!s->moves.moved.n)
		return;
	last = &c->block.at[c->block.n - 1];
	s->entry_base = c->block.at[0].start;
	s->entry_shift = (uint8_t)__builtin_ctz(c->isa->align);
	s->indirect_entry = mem_zalloc(bit_of(s, block_end(last)) / 8 + 1, 1);
	for (uint32_t b = 0; b < c->block.n; b++) {
		if (c->block.at[b].flags & BLOCK_ENTRY ||
		    c->proc.at[cfg_block_proc(c, b)].open)
			expect_block(s, b);
		if (asks_address(&c->block.at[b]))
			expect_addr(s, c->block.at[b].target);
	}
	expect_from_tables(s);
	expect_from_in_place(s);
	expect_from_kept(s);
	find_open(s);
}

bool indirect_entry_expected(const struct survey *s, uint64_t old)
{
	uint64_t index = bit_of(s, old);

	return s->indirect_entry[index / 8] >> index % 8 & 1;
}

bool survey_returns(const struct survey *s, uint32_t block)
{
	const struct block *k = &s->cfg->block.at[block];

	return block && k[-1].flags & BLOCK_KEPT && k[-1].part == k->part &&
	       block_end(&k[-1]) == k->start && survey_moves(s, block);
}

bool indirect_entry_by_return(const struct survey *s, uint64_t old)
{
	uint32_t b = s->kept ? cfg_block_at(s->cfg, old) : CFG_NONE;

	return b != CFG_NONE && s->cfg->block.at[b].start == old &&
	       survey_returns(s, b);
}

bool survey_indirect_entry(const struct survey *s, uint32_t block)
{
	return s->indirect_entry &&
	       indirect_entry_expected(s, s->cfg->block.at[block].start) &&
	       !(s->kept && survey_returns(s, block));
}

bool indirect_entry_open(const struct survey *s, uint64_t old)
{
	size_t i;

	bisect(i, s->open.n, s->open.at[i].end <= old);
	return i < s->open.n && s->open.at[i].start <= old;
}

/*
 * home: calls that leave their old return address, as runtimes know it
 * (cfg/discover/pinned.c), best leave it by being made in their old place: a
 * return is then predicted, as the processor has seen the call.
 *
 *	new code          old place
 *	...
 *	jmp home  ------> home: call callee
 *	after:  <-------        jmp after
 *
 * Not where control may arrive at the call itself, which has to be counted
 * first, nor where its bytes are needed for a jump (trampolines.c), nor where
 * the new code may be out of reach: such calls make up the address
 * (isa_move.kept). So far calls of Go alone are made so.
 */

/* all new code is near enough to the old, by any measure */
static bool is_near(const struct cfg *c)
{
	const struct image *im = c->image;
	uint64_t span = im->segment[im->nsegment - 1].end -
			c->block.at[0].start;

	return span + 8 * c->text_bytes < c->isa->move->jump_reach;
}

void home_mark(struct survey *s,
	       bool (*is_taken)(const void *ctx, uint64_t start, uint64_t end),
	       const void *ctx)
{
	const struct cfg *c = s->cfg;
	bool near = is_near(c);

	for (uint32_t b = 0; c->go.n && b < c->block.n; b++) {
		const struct block *k = &c->block.at[b];
		uint64_t at;
		uint8_t *mark;

		if (!(k->flags & BLOCK_KEPT) || !survey_moves(s, b))
			continue;
		at = marks_last(&s->marks, c, b);
		mark = &s->marks.at.at[s->marks.first[b + 1] - 1];
		*mark &= (uint8_t)~MARK_HOME;
		if (near && !indirect_entry_expected(s, at) &&
		    !indirect_entry_open(s, at) &&
		    !(is_taken && is_taken(ctx, at, block_end(k))))
			*mark |= MARK_HOME;
	}
}
