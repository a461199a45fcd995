/*
 * data_in_text: data that an FDE covers and that happens to decode.
 *
 * Hand-written code keeps tables between its instructions and reaches them
 * by their address. Where every word decodes, nothing gives them away but
 * this: some instruction computes the address, no edge leads there, and
 * there is no indirect jump that is not understood. Such a range, up to the
 * next block that something leads to, is left in place: if it was code after
 * all, it still runs there.
 */
#include "cfg/build.h"

typedef VEC(struct range) ranges;

/* how many edges lead to every block; hubs and unwinding included */
static uint32_t *data_in_text_indegree(const struct cfg *c)
{
	uint32_t *n = NEW_ARRAY(uint32_t, c->block.n);

	for (size_t e = 0; e < c->edge.n; e++)
		if (c->edge.at[e].kind < EDGE_HUB)
			n[c->edge.at[e].to]++;
	for (size_t t = 0; t < c->hub_target.n; t++)
		n[c->hub_target.at[t]]++;
	return n;
}

/* nothing is known to lead to block k from outside the range */
static bool data_in_text_is(const struct build *b, const uint32_t *indegree,
			    uint32_t k, uint32_t from_range)
{
	const struct block *t = &b->cfg->block.at[k];
	const struct procedure *p = &b->cfg->proc.at[cfg_block_proc(b->cfg, k)];

	return indegree[k] <= from_range && t->start != p->entry &&
	       !(t->flags & BLOCK_PAD) &&
	       !code_test(&b->code, b->code.called,
			  code_offset(&b->code, t->start));
}

/* edges from the blocks [first, k] to k */
static uint32_t data_in_text_edges_from(const struct cfg *c, uint32_t first,
					uint32_t k)
{
	uint32_t n = 0;

	for (uint32_t i = first; i <= k; i++)
		for (uint32_t e = c->block.at[i].edge; e < cfg_edges_end(c, i);
		     e++)
			n += c->edge.at[e].kind < EDGE_HUB &&
			     c->edge.at[e].to == k;
	return n;
}

/* the range that begins at block k, as offsets */
static struct range data_in_text_range(const struct build *b,
					 const uint32_t *indegree, uint32_t k)
{
	const struct cfg *c = b->cfg;
	uint32_t end = k + 1;
	struct range r;

	while (end < c->block.n &&
	       c->block.at[end].part == c->block.at[k].part &&
	       data_in_text_is(b, indegree, end,
			       data_in_text_edges_from(c, k, end)))
		end++;
	r.start = code_offset(&b->code, c->block.at[k].start);
	r.end = r.start +
		(block_end(&c->block.at[end - 1]) - c->block.at[k].start);
	return r;
}

ORDER_BY(range_order, struct range, start)

/* all such ranges, by offset */
static void data_in_text_find(const struct build *b, ranges *found)
{
	const struct cfg *c = b->cfg;
	uint32_t *indegree = data_in_text_indegree(c);
	uint32_t start = piece_at(b, code_offset(&b->code, b->im->entry));

	for (size_t i = 0; i < b->found.ref.n; i++) {
		const struct coderef *r = &b->found.ref.at[i];
		uint32_t p = piece_at(b, r->to), k;
		struct range s;

		/* the addresses that a program's start hands to the library
		   are of code, of main() at least */
		if (p == start && piece_at(b, r->from) == start)
			continue;
		if (r->kind != REF_ADDRESS || p == CFG_NONE ||
		    b->piece.at[p].in_place || b->piece.at[p].start == r->to ||
		    !code_test(&b->code, b->code.entry, r->to))
			continue;
		k = cfg_block_at(c, code_address(&b->code, r->to));
		if (k == CFG_NONE || c->proc.at[cfg_block_proc(c, k)].open ||
		    !data_in_text_is(b, indegree, k,
				     data_in_text_edges_from(c, k, k)))
			continue;
		s = data_in_text_range(b, indegree, k);
		vec_push(found, s);
	}
	mem_free(indegree);
	vec_sort(found, range_order);
}

/* cuts [start, end) out of the piece at hand, which keeps what is behind */
static void data_in_text_cut(struct build *b, struct piece *p, uint32_t start,
			     uint32_t end)
{
	struct piece hole = piece_slice(b, *p, start, end);

	if (start > p->start)
		vec_push(&b->piece, piece_slice(b, *p, p->start, start));
	hole.nxfer = 0;
	hole.in_place = "its address is taken, but nothing leads there";
	vec_push(&b->piece, hole);
	code_clear(&b->code, b->code.insn, start, end);
	code_clear(&b->code, b->code.leader, start, end);
	*p = piece_slice(b, *p, end, p->end);
	code_set(&b->code, b->code.leader, end);
}

bool data_in_text_remove(struct build *b)
{
	VEC(struct piece) old = {0};
	ranges found = {0};
	size_t f = 0;

	data_in_text_find(b, &found);
	if (!found.n)
		return false;
	vec_append(&old, &b->piece);
	b->piece.n = 0;
	for (size_t i = 0; i < old.n; i++) {
		struct piece p = old.at[i];

		for (; f < found.n && found.at[f].start < p.end; f++) {
			struct range r = found.at[f];

			if (r.start >= p.start && r.end <= p.end)
				data_in_text_cut(b, &p, (uint32_t)r.start,
						 (uint32_t)r.end);
		}
		if (p.start < p.end)
			vec_push(&b->piece, p);
	}
	vec_free(&old);
	vec_free(&found);
	return true;
}
