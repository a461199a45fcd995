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

#include "rewrite/insert/poison.h"
#include "rewrite/rewrite.h"
#include "rewrite/survey/survey.h"

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

/* the plan; s and o must outlive it */
static inline void everywhere_plan(struct plan *p, const struct survey *s,
				   struct everywhere *o)
{
	const struct insertion like = {
		.nregs = (uint8_t)o->regs,
		.flags = o->flags ? FLAG_ALL & ~FLAG_D : 0,
		.memory = o->memory,
	};

	*p = (struct plan){.survey = s,
			   .ctx = o,
			   .size = everywhere_a64_size,
			   .write = everywhere_a64_write};
	if (s->cfg->isa == &isa_x64) {
		p->size = everywhere_x64_size;
		p->write = everywhere_x64_write;
	}
	plan_everywhere(p, &like, false);
	p->data_size = 8 * p->insertion.n;
}

#endif
