/* edge_code: see edge_code.h. */
#include "rewrite/insert/edge_code.h"

#include <stdlib.h>

#include "base/parallel.h"

/* fewer are not worth a thread */
enum { SHARE_STUBS = 5000 };

/* does control fall through to the block, in its own part? */
static bool falls_in(const struct cfg *c, uint32_t block)
{
	const struct block *b = &c->block.at[block], *before = b - 1;
	struct insn last;

	if (!block || before->part != b->part ||
	    block_end(before) != b->start)
		return false;
	last.kind = before->last;
	return !insn_ends_flow(&last);
}

/* what is expected of the code of a site */
static void expect(const struct sites *s, const struct site *x, float *often,
		   float *past)
{
	*often = *past = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct insertion *p = site_insertion(s, x, i);

		if (p->often > *often)
			*often = p->often;
		if (p->past > *past)
			*past = p->past;
	}
}

static void consider(struct edge_codes *l, const struct survey *v,
		     const struct sites *s, uint32_t stub)
{
	struct site *x = site_of_stub(s, stub);
	const struct moved *m = &v->moves.moved.at[x->moved];
	uint32_t to = cfg_block_at(v->cfg, x->to);
	struct edge_code lead = {.to = x->to, .stub = stub};
	float past;

	if (x->to < m->old_start || x->to >= m->old_end || to == CFG_NONE ||
	    v->cfg->block.at[to].start != x->to)
		return;
	expect(s, x, &lead.often, &past);
	x->over = falls_in(v->cfg, to);
	if (!x->over || lead.often > past)
		vec_push(&l->lead, lead);
}

/* by block; the one that runs most often first */
static int edge_code_order(const void *a, const void *b)
{
	const struct edge_code *p = a, *q = b;

	if (p->to != q->to)
		return p->to < q->to ? -1 : 1;
	if (p->often != q->often)
		return p->often > q->often ? -1 : 1;
	return p->stub < q->stub ? -1 : p->stub > q->stub;
}

/* keeps one of each block */
static void keep_first(struct edge_codes *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->lead.n; i++)
		if (!n || l->lead.at[n - 1].to != l->lead.at[i].to)
			l->lead.at[n++] = l->lead.at[i];
	l->lead.n = n;
}

/* some of the stubs, those of whole parts: parts know nothing of each other */
struct share {
	const struct survey *v;
	struct sites *s;
	uint32_t from, end; /* in s->stub */
	struct edge_codes found;
};

static void *find_share(void *share)
{
	struct share *x = share;
	struct edge_codes *l = &x->found;

	for (uint32_t i = x->from; i < x->end; i++)
		consider(l, x->v, x->s, i);
	if (l->lead.n)
		qsort(l->lead.at, l->lead.n, sizeof *l->lead.at,
		      edge_code_order);
	keep_first(l);
	for (size_t i = 0; i < l->lead.n; i++)
		site_of_stub(x->s, l->lead.at[i].stub)->leads = true;
	return NULL;
}

/* where share t of n begins among the stubs, which are sorted by part */
static uint32_t stubs_cut(const struct sites *s, unsigned t, unsigned n)
{
	const struct stub_site *v = s->stub.at;
	uint32_t i = (uint32_t)parallel_first(s->stub.n, n, t);

	while (i && i < s->stub.n && v[i - 1].moved == v[i].moved)
		i++;
	return i;
}

void edge_code_find(struct edge_codes *l, const struct survey *v,
		    struct sites *s)
{
	unsigned n = parallel_count(s->stub.n, SHARE_STUBS);
	struct share share[PARALLEL_MAX];

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct share){.v = v, .s = s,
					  .from = stubs_cut(s, t, n),
					  .end = stubs_cut(s, t + 1, n)};
	parallel_run(find_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		vec_take(&l->lead, &share[t].found.lead);
}
