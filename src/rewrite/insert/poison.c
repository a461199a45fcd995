/* poison: see poison.h. */
#include "rewrite/insert/poison.h"

#include "isa/move.h"
#include "rewrite/insert/carriers.h"

static unsigned poison_code(const struct survey *s, const struct insertion *i,
			    const struct scratch *x, uint8_t *out)
{
	return s->cfg->isa->move->poison(x->dead, x->dead_flags, i->code, out);
}

static unsigned poison_size(void *ctx, const struct insertion *i,
			    const struct scratch *x)
{
	const struct plan *p = ctx;

	return poison_code(p->survey, i, x, NULL);
}

static bool poison_write(void *ctx, const struct insertion *i,
			 const struct scratch *x, uint64_t addr,
			 const struct plan_bases *bases, uint8_t *out)
{
	const struct plan *p = ctx;

	(void)addr;
	(void)bases;
	poison_code(p->survey, i, x, out);
	return true;
}

void poison_plan(struct plan *p, const struct survey *s)
{
	const struct insertion like = {0};

	*p = (struct plan){.survey = s,
			   .ctx = p,
			   .size = poison_size,
			   .write = poison_write};
	plan_everywhere(p, &like, true);
}

/* adds code at a place, if it can carry any */
static void add(struct plan *p, const struct insertion *like, uint8_t place,
		uint64_t at)
{
	struct insertion i = *like;

	i.at = at;
	i.place = place;
	i.code = (uint32_t)p->insertion.n;
	/* so that stubs lie before blocks of all kinds (edge_code.h) */
	i.often = (float)(at % 3);
	i.past = (float)(at % 2);
	if (!insertion_obstacle(p->survey, &i))
		vec_push(&p->insertion, i);
}

/* before every instruction of a block but the first */
static void add_insns(struct plan *p, const struct insertion *like,
		      const struct block *k)
{
	const struct cfg *c = p->survey->cfg;
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn i;

	for (uint32_t at = 0; at < k->size; at += i.len) {
		if (at)
			add(p, like, PLAN_BEFORE, k->start + at);
		c->isa->scan(code + at, avail - at, k->start + at, &i);
		if (i.kind == INSN_BAD)
			break;
	}
}

/* where control cannot arrive, a stub would only make the file larger */
static void add_block(struct plan *p, const struct insertion *like, uint32_t b)
{
	const struct block *k = &p->survey->cfg->block.at[b];

	add(p, like, PLAN_BEFORE, k->start);
	if (k->flags & BLOCK_ENTRY)
		add(p, like, PLAN_ENTRY, b);
	if (survey_indirect_entry(p->survey, b) || k->flags & BLOCK_PAD)
		add(p, like, PLAN_INDIRECT_ENTRY, b);
}

void plan_everywhere(struct plan *p, const struct insertion *like, bool insns)
{
	const struct cfg *c = p->survey->cfg;

	for (uint32_t b = 0; b < c->block.n; b++) {
		add_block(p, like, b);
		if (insns)
			add_insns(p, like, &c->block.at[b]);
	}
	for (uint32_t e = 0; e < c->edge.n; e++)
		add(p, like, PLAN_EDGE, e);
	for (uint32_t t = 0; t < c->hub_target.n; t++)
		add(p, like, PLAN_HUB, t);
}
