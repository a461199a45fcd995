/*
 * solve_here: results of a procedure's blocks and edges take memory only while
 * a caller looks at them.
 */
#include "count/solve_int.h"

#include "count/stubs.h"

enum { MANY = 1 << 14 }; /* blocks and edges to have at once */

/* memory of the procedure's results may be used */
void solve_recall(const struct solved *s, const struct map_proc *p)
{
	mem_recall(s->block + p->block, p->nblock * sizeof *s->block);
	mem_recall(s->block_known + p->block, p->nblock);
	mem_recall(s->edge + p->edge, p->nedge * sizeof *s->edge);
	mem_recall(s->edge_known + p->edge, p->nedge);
	mem_recall(s->arrival + p->edge, p->nedge);
}

/* what is inside of procedures from .. end-1 is not needed any more */
void solve_drop(const struct solved *s, uint32_t from, uint32_t end)
{
	const struct map_proc *p, *q;
	size_t nblock, nedge;

	if (!s->m->store || from == end)
		return;
	p = &s->m->proc.at[from];
	q = &s->m->proc.at[end - 1];
	nblock = q->block + q->nblock - p->block;
	nedge = q->edge + q->nedge - p->edge;
	mem_forget(s->block + p->block, nblock * sizeof *s->block);
	mem_forget(s->block_known + p->block, nblock);
	mem_forget(s->edge + p->edge, nedge * sizeof *s->edge);
	mem_forget(s->edge_known + p->edge, nedge);
	mem_forget(s->arrival + p->edge, nedge);
	memset(s->here + from, false, end - from);
	map_forget(s->m, from, end);
}

void solve_open_next(struct solver *k)
{
	if (k->held >= MANY) {
		solve_drop(k->s, k->first, k->proc);
		k->held = 0;
	}
	if (!k->held)
		k->first = k->proc;
	k->held += k->p->nblock + k->p->nedge;
	map_need(k->m, k->proc);
	solve_recall(k->s, k->p);
}

void solve_drop_last(struct solver *k)
{
	if (k->held)
		solve_drop(k->s, k->first, k->proc + 1);
	k->held = 0;
}

void solve_load(const struct solved *s, uint32_t proc)
{
	const struct map *m = s->m;
	struct solver k = {
		.m = m, .value = s->value, .s = s, .callees = map_callees(m)};
	bool told;

	if (!m->store)
		return;
	map_need(m, proc);
	if (s->here[proc])
		return;
	told = s->consistent[proc];
	solve_at(&k, proc);
	solve_recall(s, k.p);
	if (s->idle[proc])
		solve_nothing_ran(&k);
	else if (k.p->stub)
		solve_stub(s, proc);
	else
		solve_proc(&k);
	if (!told) {
		solve_forget(&k);
		solve_forget_inside(&k);
	}
	map_inside_free(&k.inside);
	s->here[proc] = true;
	*s->held += k.p->nblock + k.p->nedge;
}

void solve_load_next(const struct solved *s, uint32_t proc)
{
	if (s->m->store && *s->held >= MANY) {
		solve_drop(s, 0, (uint32_t)s->m->proc.n);
		*s->held = 0;
	}
	solve_load(s, proc);
}
