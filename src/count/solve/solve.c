/* solve: see solve.h; all procedures of a map. */
#include "count/solve/solve_int.h"

#include "base/parallel.h"

enum { FEW_PROCS = 500 }; /* not worth a thread */

/* what the blocks of a procedure add up to */
struct solve_sum {
	uint64_t insns;	 /* if all blocks that were entered had run */
	uint64_t blocks; /* entered; not those of stubs */
	uint64_t missed; /* of insns: what did not run */
	bool wrong;	 /* such counts cannot be */
	bool all;	 /* all are known */
};

/* what did not run for each entry of a block is no more than its entries */
static bool solve_is_short(const struct solver *k)
{
	const struct solved *s = k->s;
	uint64_t sum = 0;

	for (uint32_t i = k->lost_counts; solve_falls_short(k, i); i++) {
		const struct lost_counts *f = &s->lost_counts[i];

		if (i > k->lost_counts && f->block != f[-1].block)
			sum = 0;
		if (s->block_known[f->block] &&
		    (__builtin_add_overflow(sum, f->count, &sum) ||
		     sum > s->block[f->block]))
			return false;
	}
	return true;
}

bool solved_stays(const struct solved *s, uint32_t proc)
{
	const struct map_proc *p = &s->m->proc.at[proc];

	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++)
		if (s->m->edge.at[i].kind == MAP_STAYS &&
		    (!s->edge_known[i] || s->edge[i]))
			return true;
	return false;
}

/* no machine runs 2^64 instructions: such counts are wrong */
static void solve_add_up(const struct solver *k, struct solve_sum *x)
{
	const struct solved *s = k->s;
	unsigned __int128 insns = 0, blocks = 0;

	x->all = k->p->nblock > 0 && !solved_stays(s, k->proc);
	for (uint32_t i = k->p->block; i < k->p->block + k->p->nblock; i++) {
		x->all &= s->block_known[i];
		blocks += k->p->stub ? 0 : s->block[i];
		insns += (unsigned __int128)s->block[i] *
			 k->m->block.at[i].ninsn;
	}
	x->insns = (uint64_t)insns;
	x->blocks = (uint64_t)blocks;
	x->wrong = insns > UINT64_MAX || blocks > UINT64_MAX ||
		   !solve_is_short(k);
	for (uint32_t i = k->lost_counts; solve_falls_short(k, i); i++)
		x->missed += lost_counts_insns(s, k->m, i);
}

/* adds a procedure to all */
static void solve_sum(struct solver *k, const struct solve_sum *x,
		      struct solved *s)
{
	uint64_t insns, blocks;

	if (x->wrong ||
	    __builtin_add_overflow(s->instructions, x->insns, &insns) ||
	    __builtin_add_overflow(s->redundant_increments, x->blocks,
				   &blocks)) {
		solve_forget(k);
		if (!k->m->store)
			solve_forget_inside(k);
		s->unknown_procs++;
		return;
	}
	s->instructions = insns - x->missed;
	s->redundant_increments = blocks;
	s->unknown_procs += !x->all;
	s->insns[k->proc] = x->insns - x->missed;
	s->insns_known[k->proc] = x->all;
}

/*
 * Results of a procedure's blocks and edges take memory only while a caller
 * looks at them.
 */
enum { MANY = 1 << 14 }; /* blocks and edges to have at once */

/* memory of the procedure's results may be used */
static void solve_recall(const struct solved *s, const struct map_proc *p)
{
	mem_recall(s->block + p->block, p->nblock * sizeof *s->block);
	mem_recall(s->block_known + p->block, p->nblock);
	mem_recall(s->edge + p->edge, p->nedge * sizeof *s->edge);
	mem_recall(s->edge_known + p->edge, p->nedge);
	mem_recall(s->arrival + p->edge, p->nedge);
}

/* what is inside of procedures from .. end-1 is not needed any more */
static void solve_drop(const struct solved *s, uint32_t from, uint32_t end)
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

/*
 * Turns to the inside of procedure k->proc, whose blocks, edges and results may
 * be used then, in the map and here; drops those of procedures before it that
 * were turned to, if they are many. At the end: solve_drop_last().
 */
static void solve_open_next(struct solver *k)
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

static void solve_drop_last(struct solver *k)
{
	if (k->held)
		solve_drop(k->s, k->first, k->proc + 1);
	k->held = 0;
}

/* one share of the procedures */
struct solve_share {
	struct solver k;
	uint32_t from, end;
	struct solve_sum *sum; /* by procedure, of all shares */
	struct stub_calls calls;
	bool in_place; /* see struct solved */
};

/* nothing ran, which is clear before it is there: most of an image is so */
static bool solve_is_out(struct solver *k)
{
	bool idle;

	if (k->proc >= k->silent)
		k->silent = k->proc + map_silent(k->m, k->proc, k->value);
	idle = k->proc < k->silent && solve_is_idle_proc(k);
	arena_free(&k->scratch);
	return idle;
}

/* is it in code that stays in place, and no stub that is counted? */
static bool is_in_place(const struct map *m, uint64_t address)
{
	size_t i;

	bisect(i, m->in_place.n, m->in_place.at[i].end <= address);
	return i < m->in_place.n && m->in_place.at[i].start <= address &&
	       map_proc_at(m, address) == MAP_NONE;
}

/* does the procedure call such code, or perhaps? */
static bool solve_calls_in_place(const struct solver *k)
{
	if (k->m->some)
		return false;
	for (uint32_t i = k->p->edge; i < k->p->edge + k->p->nedge; i++) {
		uint64_t callee = k->m->edge.at[i].callee;

		if (callee && (!k->s->edge_known[i] || k->s->edge[i]) &&
		    is_in_place(k->m, callee))
			return true;
	}
	return false;
}

static void solve_inside(struct solve_share *x)
{
	struct solver *k = &x->k;

	solve_open_next(k);
	solve_proc(k);
	if (k->s->idle[k->proc])
		return;
	solve_add_up(k, &x->sum[k->proc]);
	x->in_place |= solve_calls_in_place(k);
	stub_calls_list(&x->calls, k->s, k->proc);
}

static void *solve_procs(void *share)
{
	struct solve_share *x = share;
	const struct solved *s = x->k.s;

	for (uint32_t i = x->from; i < x->end; i++) {
		solve_at(&x->k, i);
		if (solve_is_out(&x->k)) {
			s->consistent[i] = s->calls_known[i] = true;
			s->idle[i] = true;
		} else {
			solve_inside(x);
		}
		s->insns_known[i] = s->idle[i];
	}
	solve_drop_last(&x->k);
	return NULL;
}

/* adds up all procedures but stubs */
static void solve_sums(struct solver *k, const struct solve_sum *sum,
		       struct solved *s)
{
	for (uint32_t i = 0; i < k->m->proc.n; i++) {
		solve_at(k, i);
		if (!k->s->idle[i] && !k->p->stub)
			solve_sum(k, &sum[i], s);
	}
}

/* adds up stubs, when the counts of all that call them are known */
static void solve_stub_sums(struct solver *k, struct solved *s)
{
	for (uint32_t i = 0; i < k->m->proc.n; i++) {
		struct solve_sum sum = {0};

		if (!k->m->proc.at[i].stub)
			continue;
		solve_at(k, i);
		solve_open_next(k);
		solve_stub(k->s, i);
		solve_add_up(k, &sum);
		solve_sum(k, &sum, s);
	}
	solve_drop_last(k);
}

/* all of the map, from `value` and the shortfalls */
static void solve_map(struct solver *k, struct solved *s)
{
	uint32_t n = (uint32_t)k->m->proc.n;
	struct solve_sum *sum = NEW_ARRAY(struct solve_sum, n);
	struct solve_share share[PARALLEL_MAX];
	unsigned shares = parallel_count(n, FEW_PROCS);
	struct stubs stubs = stubs_of(k->m);

	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct solve_share){
			.k = *k,
			.sum = sum,
			.calls.stubs = stubs,
			.from = (uint32_t)parallel_first(n, shares, t),
			.end = (uint32_t)parallel_first(n, shares, t + 1),
		};
	parallel_run(solve_procs, share, sizeof *share, shares);
	solve_sums(k, sum, s);
	for (unsigned t = 0; t < shares; t++) {
		stub_calls_add(&share[t].calls, s);
		s->in_place |= share[t].in_place;
		vec_free(&share[t].calls.v);
	}
	solve_stub_sums(k, s);
	mem_free(sum);
}

void solve_counts(struct arena *a, const struct map *m, const uint64_t *value,
		  const struct endings *endings, struct solved *s)
{
	struct callees drawn = {0};
	struct solver k = {.m = m, .value = value, .s = s,
			   .callees = map_callees(m)};

	*s = (struct solved){
		.m = m, .value = value,
		.block = ARENA_ARRAY(a, uint64_t, m->block.n),
		.edge = ARENA_ARRAY(a, uint64_t, m->edge.n),
		.block_known = ARENA_ARRAY(a, bool, m->block.n),
		.edge_known = ARENA_ARRAY(a, bool, m->edge.n),
		.arrival = ARENA_ARRAY(a, bool, m->edge.n),
		.calls = ARENA_ARRAY(a, uint64_t, m->proc.n),
		.calls_known = ARENA_ARRAY(a, bool, m->proc.n),
		.consistent = ARENA_ARRAY(a, bool, m->proc.n),
		.insns = ARENA_ARRAY(a, uint64_t, m->proc.n),
		.insns_known = ARENA_ARRAY(a, bool, m->proc.n),
		.ran = ARENA_ARRAY(a, bool, m->proc.n),
		.idle = ARENA_ARRAY(a, bool, m->proc.n),
		.here = ARENA_ARRAY(a, bool, m->proc.n),
		.held = ARENA_ARRAY(a, uint64_t, 1),
	};
	/* running counters tell nothing of places */
	if (m->placement == PLACE_RUNNING)
		return;
	for (uint32_t i = 0; i < m->ncounter; i++)
		s->increments += value[i];
	lost_counts_find(a, m, endings, s);
	if (!k.callees) {
		callees_gather(&drawn, m);
		k.callees = &drawn;
	}
	solve_map(&k, s);
	callees_free(&drawn);
}

void solve_load(const struct solved *s, uint32_t proc)
{
	const struct map *m = s->m;
	struct solver k = {
		.m = m, .value = s->value, .s = s, .callees = map_callees(m)};
	bool consistent;

	if (!m->store)
		return;
	map_need(m, proc);
	if (s->here[proc] || m->placement == PLACE_RUNNING)
		return;
	consistent = s->consistent[proc];
	solve_at(&k, proc);
	solve_recall(s, k.p);
	if (s->idle[proc])
		solve_nothing_ran(&k);
	else if (k.p->stub)
		solve_stub(s, proc);
	else
		solve_proc(&k);
	if (!consistent) {
		solve_forget(&k);
		solve_forget_inside(&k);
	}
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
