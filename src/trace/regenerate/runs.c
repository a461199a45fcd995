/* runs: see runs.h. */
#include "trace/regenerate/runs.h"

#include <string.h>

enum {
	OFTEN = 64,		/* a table is made after so many times */
	MOST_BYTES = 1 << 22, /* of a procedure's runs */
};

/* where a run that is being found has come to */
struct reached {
	uint32_t vertex;
	unsigned nbit, nblock, nhub;
	const uint32_t *way;
	uint32_t nway;
};

struct finding {
	struct proc_plan *p;
	uint32_t bits;
	struct reached at;
	struct run_block block[RUN_BLOCKS];
	uint32_t hub[RUN_BLOCKS];
};

/* the way from where it is, by an edge without a code or the bits that are
   left; false: they do not say */
static bool choose(struct finding *f)
{
	const struct graph *g = &f->p->t.g;
	uint32_t v = f->at.vertex, first = g->out_first[v];
	uint32_t n = g->out_first[v + 1] - first;
	unsigned left = RUN_BITS - f->at.nbit;
	const struct choice *x;
	uint32_t bits;

	if (n == 1 && !f->p->on[g->out[first]]) {
		f->at.way = &g->out[first];
		f->at.nway = 1;
		return true;
	}
	if (!n || !left)
		return false;
	bits = f->bits & ((1u << left) - 1);
	x = plan_choose_next(plan_choices(f->p, v),
			     bits << (CODES_LONGEST - left), left);
	if (!x)
		return false;
	f->at.nbit += x->length;
	f->at.way = x->way;
	f->at.nway = x->nway;
	return true;
}

/* along the next edge of the way; false: it leads out of the procedure, or the
   run is long enough */
static bool go(struct finding *f)
{
	const struct proc_plan *p = f->p;
	uint32_t e = f->at.way[f->at.nway - 1], to = p->edge[e].to;
	const struct map_block *b;

	if (to >= map_exit(p->p) || f->at.nblock == RUN_BLOCKS ||
	    f->at.nhub == RUN_BLOCKS)
		return false;
	f->at.nway--;
	f->at.vertex = to;
	if (to >= p->p->nblock) {
		f->hub[f->at.nhub++] = e;
		return true;
	}
	b = &p->block[to];
	f->block[f->at.nblock++] =
		(struct run_block){to, e, b->ninsn, b->start};
	return true;
}

static struct run *make(struct finding *f, const struct reached *end)
{
	struct proc_plan *p = f->p;
	size_t n = sizeof(struct run) + end->nblock * sizeof *f->block;
	size_t nhub = end->nhub * sizeof *f->hub;
	struct run *r = arena_alloc(&p->arena, n);

	p->run_bytes += n + nhub;
	*r = (struct run){.way = end->way, .nway = end->nway,
			  .nblock = (uint16_t)end->nblock,
			  .nbit = (uint8_t)end->nbit,
			  .nhub = (uint8_t)end->nhub,
			  .hub = arena_copy(&p->arena, f->hub, nhub)};
	memcpy(r->block, f->block, end->nblock * sizeof *f->block);
	return r;
}

/* a run ends where a block does: what leads to a hub, and not from there, is
   left for the walk */
static struct run *find(struct proc_plan *p, uint32_t vertex, uint32_t bits)
{
	struct finding f = {.p = p, .bits = bits, .at.vertex = vertex};
	struct reached end = f.at;

	while ((f.at.nway || choose(&f)) && go(&f))
		if (f.at.vertex < p->p->nblock)
			end = f.at;
	return make(&f, &end);
}

struct run *runs_find(struct proc_plan *p, uint32_t vertex, uint32_t bits)
{
	struct runs *x = &p->runs[vertex];

	if (!x->at) {
		if (++x->times < OFTEN || p->run_bytes > MOST_BYTES)
			return NULL;
		x->at = ARENA_ARRAY(&p->arena, struct run *, 1u << RUN_BITS);
		p->run_bytes += sizeof *x->at << RUN_BITS;
	}
	if (p->run_bytes <= MOST_BYTES)
		x->at[bits] = find(p, vertex, bits);
	return x->at[bits];
}

static void add_up(struct proc_plan *p, struct run *r)
{
	for (unsigned i = 0; i < r->nblock; i++)
		p->ran[r->block[i].edge] += r->times;
	for (unsigned i = 0; i < r->nhub; i++)
		p->ran[r->hub[i]] += r->times;
	r->times = 0;
}

void runs_add_up(struct proc_plan *p)
{
	for (uint32_t v = 0; v < p->t.g.nv; v++)
		for (uint32_t i = 0; p->runs[v].at && i < 1u << RUN_BITS; i++)
			if (p->runs[v].at[i])
				add_up(p, p->runs[v].at[i]);
}
