/*
 * everywhere: a plan that inserts code before every block, on every edge, and
 * on every way into a procedure, wherever survey.h says that there is a place.
 *
 * The code is harmless only if the rewriter keeps its word: it overwrites all
 * the registers that it was given and, if asked to, the condition flags; or
 * it increments a counter in memory, one per place, as real measurements do.
 */
#ifndef TESTS_EVERYWHERE_H
#define TESTS_EVERYWHERE_H

#include <string.h>

#include "rewrite/rewrite.h"
#include "rewrite/survey.h"

enum { EVERYWHERE_GARBAGE = 0xdead };

struct everywhere {
	unsigned regs;
	bool memory, flags;
	/* counters are those of the thread (src/runtime/counting.h) */
	bool threads;
	bool above; /* whose word is subtracted */
};

#include "everywhere_a64.h"
#include "everywhere_x64.h"

/* adds code at a place, if it can carry any */
static inline void everywhere_add(struct plan *p, const struct everywhere *o,
				  uint8_t place, uint64_t at)
{
	struct insertion i = {
		.at = at,
		.code = (uint32_t)p->insertion.n,
		.place = place,
		.nregs = (uint8_t)o->regs,
		.flags = o->flags ? FLAG_ALL & ~FLAG_D : 0,
		.memory = o->memory,
		/* so that stubs lie before blocks of all kinds (lead.h) */
		.often = (float)(at % 3),
		.past = (float)(at % 2),
	};

	if (!survey_obstacle(p->survey, &i))
		vec_push(&p->insertion, i);
}

/* where nobody is expected, a stub would only make the file larger */
static inline void everywhere_block(struct plan *p, const struct survey *s,
				    const struct everywhere *o, uint32_t b)
{
	const struct block *k = &s->cfg->block.at[b];

	everywhere_add(p, o, PLAN_BEFORE, k->start);
	if (k->flags & BLOCK_ENTRY)
		everywhere_add(p, o, PLAN_ENTRY, b);
	if (survey_arrives(s, b) || k->flags & BLOCK_PAD)
		everywhere_add(p, o, PLAN_ARRIVAL, b);
}

/* the plan; s and o must outlive it */
static inline void everywhere_plan(struct plan *p, const struct survey *s,
				   const struct everywhere *o)
{
	const struct cfg *c = s->cfg;

	*p = (struct plan){.survey = s, .ctx = (void *)o,
			   .size = everywhere_a64_size,
			   .write = everywhere_a64_write};
	if (c->isa == &isa_x64) {
		p->size = everywhere_x64_size;
		p->write = everywhere_x64_write;
	}
	for (uint32_t b = 0; b < c->block.n; b++)
		everywhere_block(p, s, o, b);
	for (uint32_t e = 0; e < c->edge.n; e++)
		everywhere_add(p, o, PLAN_EDGE, e);
	for (uint32_t t = 0; t < c->hub_target.n; t++)
		everywhere_add(p, o, PLAN_HUB, t);
	p->data_size = 8 * p->insertion.n;
}

#endif
