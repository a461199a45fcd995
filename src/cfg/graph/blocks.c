/*
 * blocks: all pieces cut into blocks (block.c), with the edges between them,
 * put into the cfg's arrays.
 *
 * In four steps, each in threads over shares of the pieces:
 *
 *	cut      finds the blocks; then it is known how many there are
 *	fill     writes parts and blocks to their places
 *	connect  finds the edges; then it is known how many there are
 *	gather   puts them one behind the other
 */
#include <stdlib.h>

#include "base/parallel.h"
#include "cfg/build.h"

enum { BLOCK_SHARE_PIECES = 1 << 12 }; /* less is not worth a thread */

/* the pieces that one thread makes blocks and edges of */
struct share {
	struct build *b;
	uint32_t piece, end;
	cuts cut;
	uint32_t block; /* number of its first one */
	VEC(struct edge) edge;
	uint32_t first_edge; /* number of its first one */
	uint64_t *starts; /* bit map: where blocks start */
	const struct code_rank *rank; /* numbers those */
};

/* thread body: cuts the pieces, and notes how many blocks each has */
static void *share_cut(void *arg)
{
	struct share *s = arg;

	for (uint32_t i = s->piece; i < s->end; i++) {
		const struct piece *p = &s->b->piece.at[i];
		size_t had = s->cut.n;

		if (!p->in_place)
			block_cut(s->b, p, &s->cut);
		s->b->cfg->part.at[i].nblock = (uint32_t)(s->cut.n - had);
	}
	for (size_t i = 0; i < s->cut.n; i++)
		code_set(&s->b->code, s->starts, s->cut.at[i].start);
	return NULL;
}

/* the block that a cut of piece i is; base: what makes offsets addresses */
static struct block share_block(const struct build *b, uint32_t i,
				const struct cut *t, uint64_t base)
{
	struct block k = {.start = base + t->start, .part = i,
			  .size = t->end - t->start, .last = t->kind};

	if (t->fill)
		k.flags |= BLOCK_FILL;
	if (code_test(&b->code, b->code.called, t->start) ||
	    code_test(&b->code, b->code.entry, t->start))
		k.flags |= BLOCK_ENTRY;
	if (t->target != CODE_NONE)
		k.target = code_address(&b->code, t->target);
	return k;
}

/* thread body: fills in the parts and blocks */
static void *share_fill(void *arg)
{
	struct share *s = arg;
	struct cfg *c = s->b->cfg;
	const struct cut *t = s->cut.at;
	uint32_t k = s->block;

	for (uint32_t i = s->piece; i < s->end; i++) {
		const struct piece *p = &s->b->piece.at[i];
		uint64_t base = code_address(&s->b->code, p->start) - p->start;
		struct part part = {.start = base + p->start,
				    .end = base + p->end, .fde = p->fde,
				    .source = p->source, .block = k,
				    .nblock = c->part.at[i].nblock};

		if (p->source == PART_POINTER && piece_is_wanted(s->b, p))
			part.source = PART_HANDED;
		c->part.at[i] = part;
		for (; k < part.block + part.nblock; k++)
			c->block.at[k] = share_block(s->b, i, t++, base);
	}
	return NULL;
}

/* the block that starts at an offset: most often the one behind cut i */
static uint32_t share_find(const struct share *s, uint32_t i, uint32_t off)
{
	return i + 1 < s->cut.n && s->cut.at[i + 1].start == off ?
		       s->block + i + 1 :
		       code_rank(s->rank, &s->b->code, off);
}

/* appends the edges of cut i */
static void share_add_edges(struct share *s, uint32_t i, successors *succ)
{
	struct block *k = &s->b->cfg->block.at[s->block + i];

	k->edge = (uint32_t)s->edge.n;
	block_successors(s->b, k->part, &s->cut.at[i], succ);
	for (size_t j = 0; j < succ->n; j++) {
		struct edge e = {.from = s->block + i,
				 .kind = succ->at[j].kind};

		e.to = succ->at[j].to;
		if (e.kind < EDGE_HUB)
			e.to = share_find(s, i, e.to);
		if (e.kind < EDGE_HUB && e.to == CFG_NONE)
			e.kind = EDGE_UNKNOWN;
		vec_push(&s->edge, e);
	}
}

/* thread body: finds the edges */
static void *share_connect(void *arg)
{
	struct share *s = arg;
	successors succ = {0};

	for (uint32_t i = 0; i < s->cut.n; i++)
		share_add_edges(s, i, &succ);
	vec_free(&succ);
	return NULL;
}

/*
 * Thread body: puts the edges behind those of the shares before it. Those of
 * the first are there already.
 */
static void *share_gather(void *arg)
{
	struct share *s = arg;
	struct cfg *c = s->b->cfg;

	if (s->edge.n) {
		for (size_t i = 0; i < s->cut.n; i++)
			c->block.at[s->block + i].edge += s->first_edge;
		memcpy(c->edge.at + s->first_edge, s->edge.at,
		       s->edge.n * sizeof *s->edge.at);
	}
	vec_free(&s->edge);
	vec_free(&s->cut);
	return NULL;
}

/* flags blocks that are landing pads */
static void block_flag_pads(struct build *b, const struct code_rank *rank)
{
	for (size_t i = 0; i < b->site.n; i++) {
		uint32_t k = code_rank(rank, &b->code, b->site.at[i].pad);

		if (k != CFG_NONE)
			b->cfg->block.at[k].flags |= BLOCK_PAD;
	}
}

/* empties what an earlier round has made; there is a part for each piece */
static void block_reset(struct build *b)
{
	struct cfg *c = b->cfg;

	c->block.n = c->edge.n = c->proc.n = 0;
	c->proc_part.n = c->hub.n = c->hub_target.n = 0;
	c->part.n = 0;
	vec_reserve(&c->part, b->piece.n);
	c->part.n = b->piece.n;
}

/* splits the pieces into shares; returns how many there are */
static unsigned block_split(struct build *b, struct share *share,
			    uint64_t *starts, const struct code_rank *rank)
{
	size_t n = b->piece.n;
	unsigned shares = parallel_count(n, BLOCK_SHARE_PIECES);

	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct share){
			.b = b,
			.piece = (uint32_t)parallel_first(n, shares, t),
			.end = (uint32_t)parallel_first(n, shares, t + 1),
			.starts = starts,
			.rank = rank};
	return shares;
}

/*
 * hub: dispatches of one procedure with the same targets share a hub.
 *
 *	jump A \            / case 1          The sum over each side is the
 *	jump B -->  hub  ---> case 2          same; which jump led to which
 *	jump C /            \ case 3          case is not known, and is not
 *	                                      guessed.
 */

struct hub_key {
	uint32_t proc; /* representative piece */
	uint32_t jump;
};

/* by procedure, then by target set */
static int hub_order(const void *a, const void *b, void *build)
{
	const struct hub_key *p = a, *q = b;
	const struct build *bd = build;
	const struct jump_site *d = &bd->jump.at[p->jump];
	const struct jump_site *e = &bd->jump.at[q->jump];

	if (p->proc != q->proc)
		return p->proc < q->proc ? -1 : 1;
	if (d->target.n != e->target.n)
		return d->target.n < e->target.n ? -1 : 1;
	return memcmp(d->target.at, e->target.at,
		      d->target.n * sizeof *d->target.at);
}

/* does the jump stay in its procedure? A hub's targets are blocks of that. */
static bool hub_inside(const struct build *b, const struct hub_key *key)
{
	const struct jump_site *d = &b->jump.at[key->jump];

	for (size_t t = 0; t < d->target.n; t++)
		if (block_goal(b, piece_at(b, d->at),
			       code_offset(&b->code, d->target.at[t])) !=
		    GOAL_INSIDE)
			return false;
	return true;
}

/* makes one hub for the jumps key[0 .. n-1] */
static void hub_add(struct build *b, const struct code_rank *rank,
		    const struct hub_key *key, size_t n)
{
	struct cfg *c = b->cfg;
	const struct jump_site *d = &b->jump.at[key->jump];
	struct hub h = {.target = (uint32_t)c->hub_target.n,
			.proc = key->proc, .sources = (uint32_t)n};

	for (size_t t = 0; t < d->target.n; t++) {
		uint32_t k = code_rank(rank, &b->code,
				       code_offset(&b->code,
						   d->target.at[t]));

		if (k != CFG_NONE)
			vec_push(&c->hub_target, k);
	}
	h.ntarget = (uint32_t)c->hub_target.n - h.target;
	for (size_t i = 0; i < n; i++)
		b->jump.at[key[i].jump].hub = (uint32_t)c->hub.n;
	vec_push(&c->hub, h);
}

/* makes hubs for dispatches that share their targets; rank numbers blocks */
static void hub_build(struct build *b, const struct code_rank *rank)
{
	VEC(struct hub_key) key = {0};
	size_t n;

	for (uint32_t i = 0; i < b->jump.n; i++) {
		struct jump_site *j = &b->jump.at[i];
		uint32_t p = piece_at(b, j->at);
		struct hub_key k = {piece_find(b, p), i};

		j->hub = CFG_NONE;
		if (j->target.n)
			vec_push(&key, k);
	}
	if (key.n)
		qsort_r(key.at, key.n, sizeof *key.at, hub_order, b);
	for (size_t i = 0; i < key.n; i += n) {
		for (n = 1; i + n < key.n &&
			    !hub_order(&key.at[i], &key.at[i + n], b); n++)
			;
		if (n > 1 && hub_inside(b, &key.at[i]))
			hub_add(b, rank, &key.at[i], n);
	}
	vec_free(&key);
}

void block_build(struct build *b)
{
	struct cfg *c = b->cfg;
	struct share share[PARALLEL_MAX];
	uint64_t *starts = code_bitmap(&b->code);
	struct code_rank rank;
	unsigned n = block_split(b, share, starts, &rank);
	size_t blocks = 0, edges = 0;

	block_reset(b);
	parallel_run(share_cut, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++) {
		share[t].block = (uint32_t)blocks;
		blocks += share[t].cut.n;
	}
	vec_reserve(&c->block, blocks);
	c->block.n = blocks;
	parallel_run(share_fill, share, sizeof *share, n);
	code_rank_init(&rank, &b->code, starts);
	block_flag_pads(b, &rank);
	hub_build(b, &rank);
	parallel_run(share_connect, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++) {
		share[t].first_edge = (uint32_t)edges;
		edges += share[t].edge.n;
	}
	vec_take(&c->edge, &share[0].edge);
	vec_reserve(&c->edge, edges - c->edge.n);
	c->edge.n = edges;
	parallel_run(share_gather, share, sizeof *share, n);
	code_rank_free(&rank);
	mem_free(starts);
	proc_build(b);
}
