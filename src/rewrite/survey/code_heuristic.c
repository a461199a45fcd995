/*
 * code_heuristic: is what pointers alone lead to code?
 *
 * Video codecs have megabytes of procedures written by hand, without unwind
 * tables and symbols, that are known by their addresses alone. But tables lie
 * among code as well, and have addresses; to move one would destroy it. We
 * take it for a procedure if it is one in all respects:
 *
 *   - a pointer that others have leads to it, not just a number;
 *   - on every path it decodes, stays within known code, and ends (descend.c);
 *   - it is long enough for that to mean something, and has no instruction that
 *     programs do not have;
 *   - it reads no register and no flag before it sets it, but for those that
 *     its caller sets by the calling convention, and saves those registers
 *     that it changes although they are its caller's.
 *
 * What such a procedure calls is code as well, whatever it looks like.
 * bench/code_heuristic.py shows how often tables of constants pass for code.
 */
#include "rewrite/survey/survey_int.h"

#include "cfg/live/own_reads.h"

/* where instructions have one size most words are some: it takes more */
enum { INSNS_MIN = 8, INSNS_MIN_FIXED = 16 };

struct heuristic {
	struct survey *s;
	struct own_reads own;
	bool *believed;     /* by procedure */
	VEC(uint32_t) news; /* whose callees are not believed yet */
};

static bool is_doubtful(const struct part *p)
{
	return p->source >= PART_HANDED && p->fde == CFG_NONE;
}

/* what a procedure's instructions are, all together */
struct nature {
	uint32_t insns;      /* other ones than just before */
	const uint8_t *last; /* the one before, of so many bytes */
	unsigned len;
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

/* the instruction at an offset of the block, or NULL behind the last one */
static const uint8_t *insn_at(const struct cfg *c, const struct block *k,
			      uint32_t at, struct insn *in)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);

	if (!code || at >= k->size || avail < k->size)
		return NULL;
	c->isa->decode(code + at, k->size - at, k->start + at, in);
	return in->len ? code + at : NULL;
}

static bool look_at(struct heuristic *b, struct nature *n, uint32_t block)
{
	const struct cfg *c = b->s->cfg;
	const struct block *k = &c->block.at[block];
	const uint8_t *code;
	struct insn in;
	uint32_t at;

	for (at = 0; (code = insn_at(c, k, at, &in)); at += in.len) {
		n->insns += n->len != in.len || memcmp(n->last, code, in.len);
		n->changed |= in.writes;
		n->odd |= c->isa->is_privileged(code, in.len);
		n->last = code;
		n->len = in.len;
	}
	n->odd |= at < k->size || goes_astray(c, k);
	n->ends |= ends(c, block);
	return true;
}

/* the block wants flags that it has not set */
static bool wants_flags(const struct cfg *c, const struct block *k)
{
	unsigned set = 0;
	struct insn in;

	for (uint32_t at = 0; insn_at(c, k, at, &in); at += in.len) {
		if (in.flags_read & ~set)
			return true;
		set |= in.flags_written;
	}
	return false;
}

/* if the block is an entry, its code keeps to the calling convention */
static bool is_entry_good(struct heuristic *b, struct nature *n, uint32_t block)
{
	const struct cfg *c = b->s->cfg;
	const struct isa *isa = c->isa;
	regset set =
		isa->plain_args | isa->callee_saved | isa->fixed | isa->link;
	regset read;

	if (!(c->block.at[block].flags & BLOCK_ENTRY))
		return true;
	read = own_reads_from(&b->own, block);
	return !(read & ~set) && !(n->changed & isa->callee_saved & ~read) &&
	       !wants_flags(c, &c->block.at[block]);
}

static uint32_t insns_min(const struct isa *isa)
{
	return isa->align == isa->max_len ? INSNS_MIN_FIXED : INSNS_MIN;
}

/* calls fn for the procedure's blocks until it is false, and says so */
static bool
each_block(struct heuristic *b, const struct procedure *p, struct nature *n,
	   bool (*fn)(struct heuristic *b, struct nature *n, uint32_t block))
{
	const struct cfg *c = b->s->cfg;

	for (uint32_t i = 0; i < p->npart; i++) {
		const struct part *q =
			&c->part.at[c->proc_part.at[p->part + i]];

		for (uint32_t k = q->block; k < q->block + q->nblock; k++)
			if (!fn(b, n, k))
				return false;
	}
	return true;
}

static bool is_procedure(struct heuristic *b, const struct procedure *p)
{
	struct nature n = {0};

	each_block(b, p, &n, look_at);
	return n.insns >= insns_min(b->s->cfg->isa) && !n.odd && n.ends &&
	       each_block(b, p, &n, is_entry_good);
}

static void accept_proc(struct heuristic *b, uint32_t proc)
{
	if (proc == CFG_NONE || b->believed[proc])
		return;
	b->believed[proc] = true;
	vec_push(&b->news, proc);
}

/* what a procedure calls, or jumps to, is code: it may have its own ways */
static bool code_heuristic_target(struct heuristic *b, struct nature *unused,
				  uint32_t block)
{
	const struct cfg *c = b->s->cfg;
	uint64_t to = c->block.at[block].target;
	uint32_t t = to ? cfg_block_at(c, to) : CFG_NONE;

	(void)unused;
	if (t != CFG_NONE && c->block.at[t].start == to)
		accept_proc(b, cfg_block_proc(c, t));
	return true;
}

static void code_heuristic_all(struct heuristic *b)
{
	const struct cfg *c = b->s->cfg;

	for (uint32_t i = 0; i < c->part.n; i++) {
		const struct part *p = &c->part.at[i];

		if (p->source == PART_HANDED && p->proc != CFG_NONE &&
		    c->proc.at[p->proc].entry == p->start &&
		    is_procedure(b, &c->proc.at[p->proc]))
			accept_proc(b, p->proc);
	}
	while (b->news.n)
		each_block(b, &c->proc.at[b->news.at[--b->news.n]], NULL,
			   code_heuristic_target);
}

static bool stays(void *ctx, const struct moved *m)
{
	const struct heuristic *b = ctx;
	const struct part *p = &b->s->cfg->part.at[m->part];

	/* a stub is known by the slot that it jumps through */
	return is_doubtful(p) && !b->believed[p->proc] &&
	       !b->s->cfg->proc.at[p->proc].stub;
}

static bool any_doubtful(const struct survey *s)
{
	for (size_t i = 0; i < s->moves.moved.n; i++)
		if (is_doubtful(&s->cfg->part.at[s->moves.moved.at[i].part]))
			return true;
	return false;
}

void code_heuristic_leave(struct survey *s)
{
	struct heuristic b = {.s = s};

	if (!any_doubtful(s))
		return;
	own_reads_init(&b.own, &s->live);
	b.believed = NEW_ARRAY(bool, s->cfg->proc.n);
	code_heuristic_all(&b);
	choose_leave(s, stays, &b, "only its address says that it is code");
	own_reads_free(&b.own);
	mem_free(b.believed);
	vec_free(&b.news);
}
