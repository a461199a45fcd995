/*
 * believe: is what pointers alone lead to code?
 *
 * Video codecs have megabytes of procedures written by hand, without unwind
 * tables and symbols, that are known by their addresses alone. But tables lie
 * among code as well, and have addresses; to move one would destroy it. We
 * believe that it is a procedure if it is one in all respects:
 *
 *   - a pointer that others have leads to it, not just a number;
 *   - on every path it decodes, stays within known code, and ends (descend.c);
 *   - it is long enough for that to mean something, and has no instruction that
 *     programs do not have;
 *   - it reads no register and no flag that nobody has set, and saves those
 *     registers that it changes although they are its caller's, as the
 *     convention of calls has it.
 *
 * What such a procedure calls is code as well, whatever it looks like.
 * bench/believe.py shows how often tables of constants pass for code.
 */
#include "rewrite/survey_int.h"

#include "cfg/own_reads.h"

/* where instructions have one size most words are some: it takes more of them */
enum { INSNS_MIN = 8, INSNS_MIN_FIXED = 16 };

struct believer {
	struct survey *s;
	struct own_reads own;
	bool *believed; /* by part */
	VEC(uint32_t) news; /* parts whose callees are not believed yet */
};

static bool is_doubtful(const struct part *p)
{
	return p->source == PART_HANDED && p->fde == CFG_NONE;
}

/* what a part's instructions are, all together */
struct nature {
	uint32_t insns; /* other ones than just before */
	regset changed; /* registers */
	bool odd, ends; /* some are; some end the procedure */
};

/* a direct branch leads where no code is known */
static bool goes_astray(const struct cfg *c, const struct block *k)
{
	uint32_t to = k->target ? cfg_block_at(c, k->target) : CFG_NONE;

	return k->target &&
	       (to == CFG_NONE || c->block.at[to].start != k->target);
}

static bool ends(const struct cfg *c, uint32_t block)
{
	for (uint32_t e = c->block.at[block].edge; e < cfg_edges_end(c, block);
	     e++)
		if (c->edge.at[e].kind == EDGE_RETURN ||
		    c->edge.at[e].kind == EDGE_TAIL)
			return true;
	return false;
}

static void look_at(struct nature *n, const struct cfg *c, uint32_t block)
{
	const struct block *k = &c->block.at[block];
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail), *last;
	struct insn in = {.len = 0};

	for (uint32_t at = 0; at < k->size; at += in.len) {
		last = code + at - in.len;
		c->isa->decode(code + at, k->size - at, k->start + at, &in);
		n->insns += last == code + at ||
			    memcmp(last, code + at, in.len);
		n->changed |= in.writes;
		n->odd |= c->isa->is_odd(code + at, in.len);
	}
	n->odd |= goes_astray(c, k);
	n->ends |= ends(c, block);
}

/* the block wants flags that it has not set */
static bool wants_flags(const struct cfg *c, const struct block *k)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	unsigned set = 0;
	struct insn in;

	for (uint32_t at = 0; at < k->size; at += in.len) {
		c->isa->decode(code + at, k->size - at, k->start + at, &in);
		if (in.flags_read & ~set)
			return true;
		set |= in.flags_written;
	}
	return false;
}

/* who enters by the block keeps to the convention */
static bool is_conventional(struct believer *b, uint32_t block, regset changed)
{
	const struct isa *isa = b->s->cfg->isa;
	regset set = isa->plain_args | isa->callee_saved | isa->fixed |
		     isa->link;
	regset read = own_reads_from(&b->own, block);

	return !(read & ~set) && !(changed & isa->callee_saved & ~read) &&
	       !wants_flags(b->s->cfg, &b->s->cfg->block.at[block]);
}

static uint32_t insns_min(const struct isa *isa)
{
	return isa->align == isa->max_len ? INSNS_MIN_FIXED : INSNS_MIN;
}

static bool is_procedure(struct believer *b, const struct part *p)
{
	const struct cfg *c = b->s->cfg;
	struct nature n = {0};

	for (uint32_t k = p->block; k < p->block + p->nblock; k++)
		look_at(&n, c, k);
	if (n.insns < insns_min(c->isa) || n.odd || !n.ends)
		return false;
	for (uint32_t k = p->block; k < p->block + p->nblock; k++)
		if (c->block.at[k].flags & BLOCK_ENTRY &&
		    !is_conventional(b, k, n.changed))
			return false;
	return true;
}

static void believe(struct believer *b, uint32_t part)
{
	if (b->believed[part])
		return;
	b->believed[part] = true;
	vec_push(&b->news, part);
}

/* what a procedure calls, or jumps to, is code: it may have its own ways */
static void believe_called(struct believer *b, const struct part *p)
{
	const struct cfg *c = b->s->cfg;

	for (uint32_t k = p->block; k < p->block + p->nblock; k++) {
		uint64_t to = c->block.at[k].target;
		uint32_t t = to ? cfg_block_at(c, to) : CFG_NONE;

		if (t != CFG_NONE && c->block.at[t].start == to)
			believe(b, c->block.at[t].part);
	}
}

static void believe_all(struct believer *b)
{
	const struct cfg *c = b->s->cfg;

	for (size_t i = 0; i < b->s->moves.moved.n; i++) {
		uint32_t part = b->s->moves.moved.at[i].part;

		if (is_doubtful(&c->part.at[part]) &&
		    is_procedure(b, &c->part.at[part]))
			believe(b, part);
	}
	while (b->news.n)
		believe_called(b, &c->part.at[b->news.at[--b->news.n]]);
}

static bool stays(void *ctx, const struct moved *m)
{
	const struct believer *b = ctx;

	return is_doubtful(&b->s->cfg->part.at[m->part]) &&
	       !b->believed[m->part];
}

static bool any_doubtful(const struct survey *s)
{
	for (size_t i = 0; i < s->moves.moved.n; i++)
		if (is_doubtful(&s->cfg->part.at[s->moves.moved.at[i].part]))
			return true;
	return false;
}

void believe_leave(struct survey *s)
{
	struct believer b = {.s = s};

	if (!any_doubtful(s))
		return;
	own_reads_init(&b.own, &s->live);
	b.believed = NEW_ARRAY(bool, s->cfg->part.n);
	believe_all(&b);
	choose_leave(s, stays, &b, "only its address says that it is code");
	own_reads_free(&b.own);
	mem_free(b.believed);
	vec_free(&b.news);
}
