/* carriers: see carriers.h. */
#include "rewrite/insert/carriers.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/parallel.h"
#include "rewrite/insert/site.h"

/* fewer are not worth a thread */
enum { SHARE_BLOCKS = 10000 };

const char *insertion_obstacle(const struct survey *s,
			       const struct insertion *i)
{
	struct spot spot;
	const char *why = spot_find(s, i, &spot);
	struct need need = {0};
	struct site x;

	if (why)
		return why;
	need_add(&need, i);
	return site_equip(&x, s, &spot, need);
}

/* a share of the blocks, with their edges, and of the hubs' targets */
struct share {
	struct carriers *t;
	const struct survey *s;
	struct need need; /* of the code */
	uint32_t block, block_end, hub, hub_end;
};

static uint8_t carrier_of(const struct share *x, const struct spot *p)
{
	struct site site;

	if (site_equip(&site, x->s, p, x->need))
		return 0;
	return CARRIER_CAN | (site.saved ? CARRIER_SAVES : 0) |
	       (p->kind >= SPOT_TAKEN ? CARRIER_JUMPS : 0);
}

static uint8_t carrier_at(const struct share *x, enum plan_place place,
			  uint64_t at)
{
	const struct insertion i = {.place = (uint8_t)place, .at = at};
	struct spot spot;

	return spot_find(x->s, &i, &spot) ? 0 : carrier_of(x, &spot);
}

/* before an instruction of a block that moves */
static uint8_t carrier_before(const struct share *x, uint32_t block,
			      uint64_t at)
{
	const struct spot spot = {.kind = SPOT_BEFORE, .at = at,
				  .block = block, .edge = CFG_NONE};

	return carrier_of(x, &spot);
}

/* is code before the last instruction the way to see what leaves the block? */
static bool ends_unseen(const struct cfg *c, uint32_t b)
{
	uint8_t last = c->block.at[b].last;

	return last == INSN_CALL || last == INSN_ICALL ||
	       last == INSN_SYSCALL || last == INSN_IJUMP ||
	       c->block.at[b].edge == cfg_edges_end(c, b);
}

static void fill_block(const struct share *x, uint32_t b)
{
	const struct survey *s = x->s;
	const struct cfg *c = s->cfg;
	const struct block *k = &c->block.at[b];
	struct carriers *t = x->t;

	if (!survey_moves(s, b))
		return;
	t->block[b] = SURVEY_MOVES;
	if (survey_indirect_entry(s, b))
		t->block[b] |= SURVEY_ENTERED;
	if (k->last == INSN_IJUMP && survey_copies(s, b))
		t->block[b] |= SURVEY_COPIES;
	t->start[b] = carrier_before(x, b, k->start);
	if (ends_unseen(c, b))
		t->last[b] = carrier_before(x, b, marks_last(&s->marks, c, b));
	if (k->flags & BLOCK_ENTRY)
		t->entry[b] = carrier_at(x, PLAN_ENTRY, b);
	if (t->block[b] & SURVEY_ENTERED || k->flags & BLOCK_PAD)
		t->indirect_entry[b] = carrier_at(x, PLAN_INDIRECT_ENTRY, b);
	for (uint32_t e = k->edge; e < cfg_edges_end(c, b); e++)
		t->edge[e] = carrier_at(x, PLAN_EDGE, e);
}

static void *fill(void *share)
{
	const struct share *x = share;

	for (uint32_t b = x->block; b < x->block_end; b++)
		fill_block(x, b);
	for (uint32_t h = x->hub; h < x->hub_end; h++)
		x->t->hub[h] = carrier_at(x, PLAN_HUB, h);
	return NULL;
}

/* all instructions of a block that moves */
static void add_insns(const struct share *x, uint32_t b)
{
	const struct marks *marks = &x->s->marks;
	const uint8_t *mark = marks_of(marks, b);
	uint64_t at = x->s->cfg->block.at[b].start;

	if (!survey_moves(x->s, b))
		return;
	for (uint32_t i = 0; i < marks_number(marks, b); i++) {
		struct carrier_insn n = {
			.addr = at,
			.before = carrier_before(x, b, at),
			.trampoline = carrier_at(x, PLAN_TRAMPOLINE, at),
		};

		vec_push(&x->t->insn, n);
		at += mark_length(mark[i]);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct carrier_insn *p = a, *q = b;

	return p->addr < q->addr ? -1 : p->addr > q->addr;
}

static void add_open(const struct share *x)
{
	const struct cfg *c = x->s->cfg;

	for (uint32_t p = 0; p < c->proc.n; p++) {
		const struct procedure *q = &c->proc.at[p];

		for (uint32_t i = 0; q->open && i < q->npart; i++) {
			const struct part *t =
				&c->part.at[c->proc_part.at[q->part + i]];

			for (uint32_t b = 0; b < t->nblock; b++)
				add_insns(x, t->block + b);
		}
	}
	if (x->t->insn.n)
		qsort(x->t->insn.at, x->t->insn.n, sizeof *x->t->insn.at,
		      by_address);
}

void carriers_make(struct carriers *t, const struct survey *s,
		   const struct insertion *code)
{
	const struct cfg *c = s->cfg;
	unsigned n = parallel_count(c->block.n, SHARE_BLOCKS);
	struct share share[PARALLEL_MAX];
	struct need need = {0};

	need_add(&need, code);
	*t = (struct carriers){
		.block = NEW_ARRAY(uint8_t, c->block.n + 1),
		.start = NEW_ARRAY(uint8_t, c->block.n + 1),
		.last = NEW_ARRAY(uint8_t, c->block.n + 1),
		.entry = NEW_ARRAY(uint8_t, c->block.n + 1),
		.indirect_entry = NEW_ARRAY(uint8_t, c->block.n + 1),
		.edge = NEW_ARRAY(uint8_t, c->edge.n + 1),
		.hub = NEW_ARRAY(uint8_t, c->hub_target.n + 1),
	};
	for (unsigned i = 0; i < n; i++)
		share[i] = (struct share){
			.t = t, .s = s, .need = need,
			.block = (uint32_t)parallel_first(c->block.n, n, i),
			.block_end = (uint32_t)parallel_first(c->block.n, n,
							      i + 1),
			.hub = (uint32_t)parallel_first(c->hub_target.n, n, i),
			.hub_end = (uint32_t)parallel_first(c->hub_target.n, n,
							    i + 1),
		};
	parallel_run(fill, share, sizeof *share, n);
	add_open(&share[0]);
}

void carriers_free(struct carriers *t)
{
	mem_free(t->block);
	mem_free(t->start);
	mem_free(t->last);
	mem_free(t->entry);
	mem_free(t->indirect_entry);
	mem_free(t->edge);
	mem_free(t->hub);
	vec_free(&t->insn);
}

const struct carrier_insn *carriers_insn(const struct carriers *t,
					 uint64_t addr)
{
	const struct carrier_insn *v = t->insn.at;
	size_t i;

	bisect(i, t->insn.n, v[i].addr < addr);
	return i < t->insn.n && v[i].addr == addr ? &v[i] : NULL;
}
