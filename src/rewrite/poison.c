/* poison: see poison.h. */
#include "rewrite/poison.h"

#include "isa/move.h"
#include "rewrite/everywhere.h"

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
