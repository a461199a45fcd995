/* changer: rows of changes, and which are asked for; see change_int.h. */
#include "report/diff/change_int.h"

#include <string.h>

const struct counts_image *change_image_a(const struct match *m,
					  const struct change *x)
{
	uint32_t i = m->v.at[x->image].a;

	return i == MATCH_NONE ? NULL : &m->a->image[i];
}

const struct counts_image *change_image_b(const struct match *m,
					  const struct change *x)
{
	uint32_t i = m->v.at[x->image].b;

	return i == MATCH_NONE ? NULL : &m->b->image[i];
}

const struct counts_image *change_image(const struct match *m,
					const struct change *x)
{
	const struct counts_image *a = change_image_a(m, x),
				  *b = change_image_b(m, x);

	return b && (x->b != MATCH_NONE || x->a == MATCH_NONE) ? b : a;
}

const char *change_procedure(const struct match *m, const struct change *x)
{
	return symbolizer_procedure(change_image(m, x)->symbolizer,
				    x->b != MATCH_NONE ? x->b : x->a);
}

/* what is not there ran as often as what never ran: not at all */
static bool differs(const struct side_count *a, const struct side_count *b)
{
	if ((a->there && !a->known) != (b->there && !b->known))
		return true;
	return a->n != b->n && (a->known || !a->there) &&
	       (b->known || !b->there);
}

uint64_t change_distance(const struct change *x)
{
	return x->before.n > x->after.n ? x->before.n - x->after.n :
					  x->after.n - x->before.n;
}

bool change_known(const struct change *x)
{
	return (x->before.known || !x->before.there) &&
	       (x->after.known || !x->after.there);
}

bool change_has_run(const struct change *x)
{
	return x->before.n || x->after.n || !change_known(x);
}

/* something that is new or gone counts if it ran */
static bool is_change(const struct change *x)
{
	return differs(&x->before, &x->after) || x->edges ||
	       differs(&x->calls_before, &x->calls_after) ||
	       (change_has_run(x) && x->code != CODE_SAME);
}

static bool is_large(const struct changer *c, const struct change *x)
{
	const struct match *m = c->m;
	uint64_t all = m->a->instructions > m->b->instructions ?
			       m->a->instructions : m->b->instructions;

	return !c->query->share || !change_known(x) ||
	       (double)change_distance(x) >= c->query->share * (double)all;
}

void change_add(struct changer *c, struct change x)
{
	bool change = is_change(&x);

	c->out->any |= change;
	x.listed = (c->query->all || change) && is_large(c, &x);
	if (x.listed || c->query->keep)
		vec_push(&c->out->v, x);
}

uint32_t *change_blocks_of(const struct changer *c, const struct change *x)
{
	const struct match_image *i = &c->m->v.at[x->image];
	const struct counts_image *m = change_image_a(c->m, x);
	const struct counts_image *n = change_image_b(c->m, x);
	uint32_t count = m->map->proc.at[x->a].nblock;
	uint32_t *to = NEW_ARRAY(uint32_t, count + 1);

	if (!i->same) {
		match_blocks(&i->x, x->a, &i->y, x->b, to);
		return to;
	}
	/* in one file a block is where it was, if it is there */
	for (uint32_t v = 0; v < count; v++)
		to[v] = v < n->map->proc.at[x->b].nblock &&
			m->map->block.at[m->map->proc.at[x->a].block + v]
				.start ==
			n->map->block.at[n->map->proc.at[x->b].block + v]
				.start ? v : MATCH_NONE;
	return to;
}

bool change_meant(const struct changer *c, const struct counts_image *m)
{
	return m && (!c->query->image || !strcmp(c->query->image, m->name));
}
