/*
 * home: calls that leave their old return address, as runtimes know it
 * (cfg/pinned.c), best leave it by being made in their old place: a return is
 * then predicted, as the processor has seen the call.
 *
 *	new code          old place
 *	...
 *	jmp home  ------> home: call callee
 *	after:  <-------        jmp after
 *
 * Not where control may arrive at the call itself, which has to be counted
 * first, nor where its bytes are needed for a jump (pads.c), nor where the new
 * code may be out of reach: such calls make up the address (isa_move.kept). So
 * far calls of Go alone are made so.
 */
#include "rewrite/survey_int.h"

#include "isa/move.h"

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
		if (near && !arrive_expected(s, at) && !arrive_open(s, at) &&
		    !(is_taken && is_taken(ctx, at, block_end(k))))
			*mark |= MARK_HOME;
	}
}
