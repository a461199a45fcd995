/* piece: the searchable list of pieces, and which belong together. */

#include "base/bisect.h"
#include "cfg/build.h"

enum { INDEX_SHIFT = 8 }; /* one entry of piece_index per 256 bytes */

uint32_t piece_among(const struct build *b, const uint32_t *piece, uint32_t n,
		     uint32_t off)
{
	const struct piece *p = b->piece.at;
	uint32_t i = 0;

	if (n > 1) /* most procedures are one piece */
		bisect(i, n, p[piece[i]].end <= off);
	return i < n && p[piece[i]].start <= off && off < p[piece[i]].end ?
		       i : n;
}

static int piece_order(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->source < q->source ? -1 : p->source > q->source;
}

void pieces_sort(struct build *b)
{
	vec_sort(&b->piece, piece_order);
}

void pieces_index(struct build *b)
{
	size_t n = (b->code.total >> INDEX_SHIFT) + 1;
	uint32_t p = 0;

	pieces_sort(b);
	b->indexed = b->piece.n;
	b->outside.known = false;
	mem_free(b->piece_index);
	b->piece_index = NEW_ARRAY(uint32_t, n);
	for (size_t i = 0; i < n; i++) {
		while (p < b->piece.n &&
		       b->piece.at[p].end <= i << INDEX_SHIFT)
			p++;
		b->piece_index[i] = p;
	}
	for (uint32_t i = 0; i < b->piece.n; i++)
		b->piece.at[i].leader = i;
}

uint32_t piece_at(const struct build *b, uint32_t off)
{
	if (off >= b->code.total)
		return CFG_NONE;
	for (uint32_t p = b->piece_index[off >> INDEX_SHIFT];
	     p < b->piece.n && b->piece.at[p].start <= off; p++)
		if (off < b->piece.at[p].end)
			return p;
	return CFG_NONE;
}

uint32_t piece_find(const struct build *b, uint32_t p)
{
	while (b->piece.at[p].leader != p)
		p = b->piece.at[p].leader;
	return p;
}

void piece_union(struct build *b, uint32_t p, uint32_t q)
{
	uint32_t low, high = q, next;

	p = piece_find(b, p);
	q = piece_find(b, q);
	/* the lowest piece represents: deterministic, and mostly the hot one */
	low = p < q ? p : q;
	b->piece.at[p].leader = b->piece.at[q].leader = low;
	for (; high != low; high = next) {
		next = b->piece.at[high].leader;
		b->piece.at[high].leader = low;
	}
}

void pieces_flatten(struct build *b)
{
	for (uint32_t p = 0; p < b->piece.n; p++)
		b->piece.at[p].leader = piece_find(b, p);
}

struct piece piece_slice(const struct build *b, struct piece p,
			 uint32_t start, uint32_t end)
{
	const struct xfer *x = b->found.xfer.at;
	uint32_t stop = p.xfer + p.nxfer;

	while (p.xfer < stop && x[p.xfer].at < start)
		p.xfer++;
	p.nxfer = 0;
	while (p.xfer + p.nxfer < stop && x[p.xfer + p.nxfer].at < end)
		p.nxfer++;
	p.fresh &= p.start == start;
	p.start = start;
	p.end = end;
	return p;
}

/* does the last instruction before `end` go on? */
static bool goes_on(const struct build *b, uint32_t start, uint32_t end)
{
	const struct code *k = &b->code;
	uint32_t at = end;
	struct insn i;

	while (at > start && !code_test(k, k->insn, --at))
		;
	k->isa->scan(code_bytes(k, at), end - at, 0, &i);
	return at + i.len == end && !i.pad &&
	       (i.kind == INSN_SEQ || i.kind == INSN_COND ||
		i.kind == INSN_SYSCALL);
}

bool piece_falls_out(const struct build *b, uint32_t p)
{
	const struct piece *x = &b->piece.at[p];
	struct insn i;

	if (!x->whole || x->in_place || x->end >= b->code.total ||
	    piece_at(b, x->end) != CFG_NONE || !goes_on(b, x->start, x->end))
		return false;
	b->code.isa->scan(code_bytes(&b->code, x->end),
			  b->code.total - x->end, 0, &i);
	return !i.pad;
}

bool piece_is_wanted(const struct build *b, const struct piece *p)
{
	return code_test(&b->code, b->code.called, p->start) ||
	       code_test(&b->code, b->code.handed, p->start);
}

bool stubs_hold(const struct build *b, uint32_t off)
{
	for (size_t i = 0; i < b->stub.n; i++)
		if (off >= b->stub.at[i].start && off < b->stub.at[i].end)
			return true;
	return false;
}
