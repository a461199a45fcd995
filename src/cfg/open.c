/*
 * open: procedures that control may enter anywhere, because of what is beside
 * them.
 *
 * Unwind tables, or the sizes of symbols, say which code is one procedure's.
 * Where there is neither, what we take for procedures may be parts of one: a
 * jump that is not understood, or what is not even proved to be code, leads
 * into any of them. A procedure begins at the target of a call, or where a
 * pointer leads that other procedures have: a relocation makes it, or another
 * procedure's code. (Were it a label of a table, jumps by that would have a way
 * there.) So between two such places all may be one:
 *
 *	 called          not understood        called
 *	[=====)[========)[=======)[=======)...[=======)
 *	|<------------ all of it is open ---->|
 */
#include "cfg/build.h"

/* pieces in a row that may be of one procedure */
struct stretch {
	uint32_t first, end;
	bool open;
};

static bool is_unknown(const struct build *b, uint32_t piece)
{
	const struct cfg *c = b->cfg;
	uint32_t p = c->part.at[piece].proc;

	return b->piece.at[piece].in_place ||
	       (p != CFG_NONE && c->proc.at[p].unknown);
}

/* a procedure of its own begins with the piece, or it has its bounds told */
static bool begins(const struct build *b, uint32_t piece)
{
	const struct piece *p = &b->piece.at[piece];

	return p->whole || !piece || b->piece.at[piece - 1].whole ||
	       piece_is_wanted(b, p) ||
	       code_range_of(&b->code, p->start) !=
		       code_range_of(&b->code, p[-1].start);
}

/* something that may be code lies there */
static bool is_gap(const struct build *b, uint32_t start, uint32_t end)
{
	return start < end && !block_is_fill(&b->code, start, end);
}

/* between the piece and the one before it, which is another procedure's */
static bool has_gap_before(const struct build *b, uint32_t piece)
{
	const struct piece *p = &b->piece.at[piece];
	uint32_t start = code_range_of(&b->code, p->start)->offset;

	if (piece_is_wanted(b, p))
		return false;
	if (piece && p[-1].end > start)
		start = p[-1].end;
	return is_gap(b, start, p->start);
}

/* between the piece and the next */
static bool has_gap(const struct build *b, uint32_t piece)
{
	const struct piece *p = &b->piece.at[piece];
	const struct code_range *r = code_range_of(&b->code, p->start);
	uint32_t end = r->offset + (uint32_t)(r->end - r->start);

	if (piece + 1 < b->piece.n && p[1].start < end)
		end = p[1].start;
	return is_gap(b, p->end, end);
}

static void open_all(struct build *b, const struct stretch *s)
{
	struct cfg *c = b->cfg;

	for (uint32_t i = s->first; i < s->end; i++)
		if (c->part.at[i].proc != CFG_NONE)
			c->proc.at[c->part.at[i].proc].open = true;
}

void open_find(struct build *b)
{
	struct stretch s = {0};

	for (uint32_t i = 0; i < b->piece.n; i = s.end) {
		s = (struct stretch){.first = i, .end = i};
		if (b->piece.at[i].whole) {
			s.end++;
			continue;
		}
		s.open = has_gap_before(b, i);
		do {
			s.open |= is_unknown(b, s.end) || has_gap(b, s.end);
			s.end++;
		} while (s.end < b->piece.n && !begins(b, s.end));
		if (s.open)
			open_all(b, &s);
	}
}
