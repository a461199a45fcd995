/*
 * region: what is left alone, and why; and how much is not.
 *
 * Everything in code ranges that lies in no block is either padding, which
 * needs no mention, or a region that stays as it is.
 */
#include "base/bisect.h"
#include "cfg/build.h"

ORDER_BY(refusal_order, struct refusal, at)

/* padding at off: how many bytes, 0 if none */
static uint32_t region_pad(const struct code *k, uint32_t off, uint32_t end)
{
	const uint8_t *bytes = code_bytes(k, off);
	struct insn i;

	if (!bytes[0] && k->shift == 0)
		return 1; /* zero fill between x86 sections' pieces */
	k->isa->scan(bytes, end - off, 0, &i);
	return i.pad ? i.len : 0;
}

/* the reason for [off, end): a refused seed in it, or the general one */
static const char *region_reason(const struct build *b, uint32_t off,
				 uint32_t end)
{
	size_t i;

	bisect(i, b->refusal.n, b->refusal.at[i].at < off);
	return i < b->refusal.n && b->refusal.at[i].at < end ?
		       b->refusal.at[i].why : "no proof that this is code";
}

/*
 * Behind the last of [off, end) that is no padding, of which there is some at
 * off. Read from `from` on, which may be within an instruction: what is found
 * right behind it may be wrong, and CODE_NONE the answer.
 */
static uint32_t region_last(const struct code *k, uint32_t off, uint32_t from,
			    uint32_t end)
{
	uint32_t last = off, n;

	for (uint32_t at = from; at < end; at += n ? n : 1u << k->shift) {
		n = region_pad(k, at, end);
		if (!n)
			last = at + (1u << k->shift);
	}
	return from == off || last > from + k->isa->max_len ? last : CODE_NONE;
}

/* region_last() of all; padding at the end is short most often */
static uint32_t region_trim(const struct code *k, uint32_t off, uint32_t end)
{
	uint32_t last = CODE_NONE;

	for (uint64_t n = 64; last == CODE_NONE; n *= 4)
		last = region_last(k, off, end - off < n ?
					   off : end - (uint32_t)n, end);
	return last;
}

/* adds [off, end) without the padding at its ends: of what is there for a
   reason, the beginning is an address that is used */
static void region_add(struct build *b, uint32_t off, uint32_t end,
		       const char *reason)
{
	const struct code *k = &b->code;
	uint32_t first = off, last, n;
	struct region r = {.reason = reason};

	while (off < end && (n = region_pad(k, off, end)))
		off += n;
	if (off >= end)
		return;
	last = region_trim(k, off, end);
	if (reason)
		off = first;
	else
		r.reason = region_reason(b, off, last);
	r.start = code_address(k, off);
	r.end = r.start + (last - off);
	vec_push(&b->cfg->region, r);
}

/* what no piece covers in one code range */
static void region_gaps(struct build *b, const struct code_range *r,
			uint32_t *piece)
{
	uint32_t off = r->offset;
	uint32_t end = r->offset + (uint32_t)(r->end - r->start);

	for (; *piece < b->piece.n && b->piece.at[*piece].start < end;
	     ++*piece) {
		const struct piece *p = &b->piece.at[*piece];

		if (p->start > off)
			region_add(b, off, p->start, NULL);
		if (p->in_place)
			region_add(b, p->start, p->end, p->in_place);
		if (p->end > off)
			off = p->end;
	}
	if (off < end)
		region_add(b, off, end, NULL);
}

/* how many bytes of [start, end) lie in blocks, from block *k on */
static uint64_t region_covered(const struct cfg *c, size_t *k, uint64_t start,
			       uint64_t end)
{
	uint64_t n = 0;

	while (*k < c->block.n && block_end(&c->block.at[*k]) <= start)
		++*k;
	for (size_t i = *k; i < c->block.n && c->block.at[i].start < end; i++) {
		uint64_t lo = c->block.at[i].start;
		uint64_t hi = block_end(&c->block.at[i]);

		n += (hi < end ? hi : end) - (lo > start ? lo : start);
	}
	return n;
}

/* sums for the listing */
static void region_count(struct build *b)
{
	struct cfg *c = b->cfg;
	uint64_t last = 0;
	size_t k = 0;

	c->text_bytes = b->code.bytes;
	for (size_t i = 0; i < c->block.n; i++)
		c->covered_bytes += c->block.at[i].size;
	for (size_t i = 0; i < b->unwind->nfde; i++) {
		const struct fde *f = &b->unwind->fde[i];
		uint64_t start = f->start > last ? f->start : last;

		if (code_offset(&b->code, f->start) == CODE_NONE ||
		    start >= f->end)
			continue;
		c->fde_bytes += f->end - start;
		c->fde_covered += region_covered(c, &k, start, f->end);
		last = f->end;
	}
}

void region_list(struct build *b, const char *pinned)
{
	uint32_t piece = 0;

	vec_sort(&b->refusal, refusal_order);
	for (unsigned i = 0; i < b->code.nrange; i++) {
		const struct code_range *r = &b->code.range[i];

		if (pinned)
			region_add(b, r->offset, r->offset +
				   (uint32_t)(r->end - r->start), pinned);
		else
			region_gaps(b, r, &piece);
	}
	region_count(b);
}

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

/* pieces in a row that may be of one procedure */
struct piece_range {
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

/* a procedure of its own begins with the piece, or its bounds are known */
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

static void open_all(struct build *b, const struct piece_range *s)
{
	struct cfg *c = b->cfg;

	for (uint32_t i = s->first; i < s->end; i++)
		if (c->part.at[i].proc != CFG_NONE)
			c->proc.at[c->part.at[i].proc].open = true;
}

void open_find(struct build *b)
{
	struct piece_range s = {0};

	for (uint32_t i = 0; i < b->piece.n; i = s.end) {
		s = (struct piece_range){.first = i, .end = i};
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
