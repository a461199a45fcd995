/*
 * solve: see solve.h.
 *
 * Most procedures of an image never run, so one whose counters are all 0 is
 * looked at first without its graph. Flow runs in circles (by way of EXIT, if
 * not inside), and a circle with a counter on it would have been counted: if
 * no circle is without one, nothing ran. That is exact; where some circle has
 * no counter the general way decides what is known.
 */
#include "count/solve.h"

#include "base/share.h"
#include "count/callees.h"
#include "count/map_graph.h"
#include "count/shortfall.h"
#include "count/stubs.h"
#include "flow/propagate.h"

enum {
	FEW_PROCS = 500, /* not worth a thread */
	MANY = 1 << 14,	 /* blocks and edges to have at once */
};

struct solver {
	const struct map *m;
	const uint64_t *value;
	struct solved *s;
	uint32_t shortfall; /* the first of this procedure in s->shortfall */
	struct arena scratch; /* of one procedure */
	struct map_inside inside; /* of one that is looked at */
	const struct callees *callees;
	const struct map_proc *p;
	uint32_t proc;
};

/* the counter of block i, edge i of the procedure, MAP_NONE if none */
static uint32_t solve_block_counter(const struct solver *k, uint32_t i)
{
	return k->m->block.at[k->p->block + i].counter;
}

static uint32_t solve_edge_counter(const struct solver *k, uint32_t i)
{
	return k->m->edge.at[k->p->edge + i].counter;
}

/* whether all counters of the procedure are 0 */
static bool solve_is_silent(const struct solver *k)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < k->p->nblock; i++)
		if (solve_block_counter(k, i) != MAP_NONE)
			any |= k->value[solve_block_counter(k, i)];
	for (uint32_t i = 0; i < k->p->nedge; i++)
		if (solve_edge_counter(k, i) != MAP_NONE)
			any |= k->value[solve_edge_counter(k, i)];
	return !any;
}

/* whether vertex v has no counter */
static bool solve_is_open(const struct solver *k, uint32_t v)
{
	return v >= k->p->nblock || k->inside.block[v].counter == MAP_NONE;
}

/* edges without counters as lists, and how many of them arrive where */
struct open_edges {
	uint32_t *first, *next, *to; /* first: by vertex */
	uint32_t *arriving;	     /* by vertex */
};

static void open_edges_add(struct open_edges *o, uint32_t e, uint32_t from,
			   uint32_t to)
{
	o->to[e] = to;
	o->next[e] = o->first[from];
	o->first[from] = e;
	o->arriving[to]++;
}

static void open_edges_draw(struct solver *k, struct open_edges *o)
{
	const struct map_proc *p = k->p;
	uint32_t nv = map_exit(p) + 1;

	o->first = graph_nones(&k->scratch, nv);
	o->arriving = ARENA_ARRAY(&k->scratch, uint32_t, nv);
	o->next = ARENA_ARRAY(&k->scratch, uint32_t, p->nedge);
	o->to = ARENA_ARRAY(&k->scratch, uint32_t, p->nedge);
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct map_edge *d = &k->inside.edge[i];

		if (d->counter == MAP_NONE && solve_is_open(k, d->from) &&
		    solve_is_open(k, d->to))
			open_edges_add(o, i, d->from, d->to);
	}
}

/* whether every circle has a counter: vertices go when nothing arrives */
static bool solve_counts_all_circles(struct solver *k)
{
	uint32_t nv = map_exit(k->p) + 1, n = 0;
	uint32_t *gone = ARENA_ARRAY(&k->scratch, uint32_t, nv);
	struct open_edges o;

	map_look(k->m, k->proc, &k->inside);
	open_edges_draw(k, &o);
	for (uint32_t v = 0; v < nv; v++)
		if (!o.arriving[v])
			gone[n++] = v;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = o.first[gone[i]]; e != GRAPH_NONE;
		     e = o.next[e])
			if (!--o.arriving[o.to[e]])
				gone[n++] = o.to[e];
	return n == nv;
}

/* nothing of the procedure ran; all counts are 0 already */
static void solve_nothing_ran(struct solver *k)
{
	memset(k->s->block_known + k->p->block, true, k->p->nblock);
	memset(k->s->edge_known + k->p->edge, true, k->p->nedge);
	k->s->calls_known[k->proc] = true;
}

/* where the counters are, and what they say; returns the values */
static uint64_t *solve_place(struct solver *k, struct placement *at)
{
	uint32_t n = k->p->nblock > k->p->nedge ? k->p->nblock : k->p->nedge;
	uint64_t *value = ARENA_ARRAY(&k->scratch, uint64_t, n);
	bool blocks = place_on_vertices(k->m->placement);

	*at = (struct placement){
		.kind = k->m->placement,
		.at = ARENA_ARRAY(&k->scratch, uint32_t, n),
	};
	n = blocks ? k->p->nblock : k->p->nedge;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = blocks ? solve_block_counter(k, i) :
				      solve_edge_counter(k, i);

		if (c == MAP_NONE)
			continue;
		value[at->n] = k->value[c];
		at->at[at->n++] = i;
	}
	return value;
}

/* whether an edge is known never to have run */
static bool solve_is_idle(const struct propagation *r, uint32_t e)
{
	return r->edge_known[e] && !r->edge[e];
}

/* what touches a block that never ran did not run either */
static void solve_quiet_edges(struct propagation *r, const struct graph *g)
{
	for (uint32_t e = 0; e < g->ne; e++) {
		uint32_t u = g->from[e], v = g->to[e];

		if (r->edge_known[e] ||
		    !((r->vertex_known[u] && !r->vertex[u]) ||
		      (r->vertex_known[v] && !r->vertex[v])))
			continue;
		r->edge[e] = 0;
		r->edge_known[e] = true;
	}
}

/*
 * Whoever runs a block came there, from outside in the end. So what cannot be
 * reached but by edges that never ran did not run: a circle without counters
 * is not always a secret.
 */
static void solve_unreached(struct arena *a, struct propagation *r,
			    const struct graph *g)
{
	bool *reached = ARENA_ARRAY(a, bool, g->nv);
	uint32_t *found = ARENA_ARRAY(a, uint32_t, g->nv), n = 0;

	reached[g->root] = true;
	found[n++] = g->root;
	for (uint32_t i = 0; i < n; i++)
		for_each_edge_out (e, g, found[i]) {
			if (reached[g->to[e]] || solve_is_idle(r, e))
				continue;
			reached[g->to[e]] = true;
			found[n++] = g->to[e];
		}
	for (uint32_t v = 0; v < g->nv; v++)
		if (!reached[v] && !r->vertex_known[v]) {
			r->vertex[v] = 0;
			r->vertex_known[v] = true;
		}
}

/* what follows from the fact that nothing runs less than 0 times */
static void solve_idle(struct arena *a, struct propagation *r,
		       const struct graph *g)
{
	solve_quiet_edges(r, g);
	solve_unreached(a, r, g);
	solve_quiet_edges(r, g);
}

/* whether edge i of the procedure, an entry, is where it is called */
static bool solve_is_call(struct solver *k, uint32_t i)
{
	uint32_t v = k->m->edge.at[k->p->edge + i].to;

	return v == k->p->root ||
	       callees_has(k->callees, k->m->block.at[k->p->block +
						      v].start);
}

/* how often it was called, by all entries together */
static void solve_calls(struct solver *k, const struct propagation *r)
{
	uint64_t sum = 0;
	bool known = true, fits = true;

	for (uint32_t i = 0; i < k->p->nedge; i++) {
		if (k->m->edge.at[k->p->edge + i].kind != MAP_ENTRY)
			continue;
		k->s->arrival[k->p->edge + i] = !solve_is_call(k, i);
		if (k->s->arrival[k->p->edge + i])
			continue;
		known &= r->edge_known[i];
		fits &= !__builtin_add_overflow(sum, r->edge[i], &sum);
	}
	k->s->calls_known[k->proc] = known && fits;
	k->s->calls[k->proc] = known && fits ? sum : 0;
}

/* the results of the procedure; unknown ones stay 0 */
static void solve_take(struct solver *k, const struct propagation *r)
{
	struct solved *s = k->s;

	for (uint32_t i = 0; i < k->p->nblock; i++) {
		s->block_known[k->p->block + i] = r->vertex_known[i];
		s->block[k->p->block + i] =
			r->vertex_known[i] ? r->vertex[i] : 0;
	}
	for (uint32_t i = 0; i < k->p->nedge; i++) {
		s->edge_known[k->p->edge + i] = r->edge_known[i];
		s->edge[k->p->edge + i] = r->edge_known[i] ? r->edge[i] : 0;
	}
	solve_calls(k, r);
}

/* whether shortfall i is one of the procedure's blocks */
static bool solve_falls_short(const struct solver *k, uint32_t i)
{
	return i < k->s->nshortfall &&
	       k->s->shortfall[i].block < k->p->block + k->p->nblock;
}

/* frames that ended in each of nv vertices, or NULL: none did */
static const uint64_t *solve_deaths(struct solver *k, uint32_t nv)
{
	uint64_t *death;

	if (!solve_falls_short(k, k->shortfall))
		return NULL;
	death = ARENA_ARRAY(&k->scratch, uint64_t, nv);
	for (uint32_t i = k->shortfall; solve_falls_short(k, i); i++)
		death[k->s->shortfall[i].block - k->p->block] +=
			k->s->shortfall[i].count;
	return death;
}

/* the general way */
static void solve_flow(struct solver *k)
{
	struct graph g;
	struct placement at;
	struct propagation r;
	struct propagate_flows flows = {0};
	uint64_t *value = solve_place(k, &at);

	map_graph(&k->scratch, k->m, k->p, &g);
	flows.death = solve_deaths(k, g.nv);
	propagate_counts(&k->scratch, &g, &at, value, &flows, &r);
	k->s->consistent[k->proc] = r.consistent;
	if (!r.consistent)
		return;
	solve_idle(&k->scratch, &r, &g);
	solve_take(k, &r);
}

/* nothing is known of the procedure after all */
static void solve_forget(struct solver *k)
{
	struct solved *s = k->s;

	s->consistent[k->proc] = false;
	s->calls_known[k->proc] = false;
	s->calls[k->proc] = 0;
}

/* nor of its blocks and edges; requires: they are there */
static void solve_forget_inside(struct solver *k)
{
	struct solved *s = k->s;

	memset(s->block_known + k->p->block, false, k->p->nblock);
	memset(s->edge_known + k->p->edge, false, k->p->nedge);
	memset(s->block + k->p->block, 0, k->p->nblock * sizeof *s->block);
	memset(s->edge + k->p->edge, 0, k->p->nedge * sizeof *s->edge);
}

/* what did not run for each entry of a block is no more than its entries */
static bool solve_is_short(const struct solver *k)
{
	const struct solved *s = k->s;
	uint64_t sum = 0;

	for (uint32_t i = k->shortfall; solve_falls_short(k, i); i++) {
		const struct shortfall *f = &s->shortfall[i];

		if (i > k->shortfall && f->block != f[-1].block)
			sum = 0;
		if (s->block_known[f->block] &&
		    (__builtin_add_overflow(sum, f->count, &sum) ||
		     sum > s->block[f->block]))
			return false;
	}
	return true;
}

/* what the blocks of a procedure add up to */
struct solve_sum {
	uint64_t insns;	 /* if all blocks that were entered had run */
	uint64_t blocks; /* entered; not those of stubs */
	uint64_t missed; /* of insns: what did not run */
	bool wrong;	 /* such counts cannot be */
	bool all;	 /* all are known */
};

/* no machine runs 2^64 instructions: such counts are wrong */
static void solve_add_up(const struct solver *k, struct solve_sum *x)
{
	const struct solved *s = k->s;
	unsigned __int128 insns = 0, blocks = 0;

	x->all = k->p->nblock > 0;
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
	for (uint32_t i = k->shortfall; solve_falls_short(k, i); i++)
		x->missed += shortfall_insns(s, k->m, i);
}

/* adds a procedure to all */
static void solve_sum(struct solver *k, const struct solve_sum *x)
{
	struct solved *s = k->s;
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

/* turns to procedure i */
static void solve_at(struct solver *k, uint32_t i)
{
	k->proc = i;
	k->p = &k->m->proc.at[i];
	k->shortfall = shortfall_first(k->s, k->p->block);
}

/* whether its counters say that nothing ran; requires: s->ran is right */
static bool solve_is_idle_proc(struct solver *k)
{
	const bool *complete = k->s->complete;

	return !k->p->unknown && k->p->nblock && !k->p->stub &&
	       !k->s->ran[k->proc] && !solve_falls_short(k, k->shortfall) &&
	       (complete ? complete[k->proc] : solve_counts_all_circles(k));
}

/* all of it, but of a stub nothing */
static void solve_proc(struct solver *k)
{
	struct solved *s = k->s;

	s->consistent[k->proc] = true;
	s->ran[k->proc] = !solve_is_silent(k);
	s->idle[k->proc] = solve_is_idle_proc(k);
	if (s->idle[k->proc])
		solve_nothing_ran(k);
	else if (!k->p->unknown && k->p->nblock && !k->p->stub)
		solve_flow(k);
	else
		/* until one of those who come to it says that it is not */
		s->calls_known[k->proc] = k->p->stub;
	arena_free(&k->scratch);
}

/* --- what is there at a time */

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

/* drops those before the procedure if they are many; the first that stays */
static uint32_t solve_drop_before(const struct solved *s, uint32_t first,
				  uint32_t proc)
{
	const struct map_proc *p = &s->m->proc.at[first];
	const struct map_proc *q = &s->m->proc.at[proc];

	if (q->block - p->block + q->edge - p->edge < MANY)
		return first;
	solve_drop(s, first, proc);
	return proc;
}

void solve_need(const struct solved *s, uint32_t proc)
{
	const struct map *m = s->m;
	struct solver k = {.m = m, .value = s->value,
			   .s = (struct solved *)s,
			   .callees = map_callees(m)};
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

void solve_turn(const struct solved *s, uint32_t proc)
{
	if (s->m->store && *s->held >= MANY) {
		solve_drop(s, 0, (uint32_t)s->m->proc.n);
		*s->held = 0;
	}
	solve_need(s, proc);
}

/* --- all of a map */

const bool *solve_complete(struct arena *a, const struct map *m)
{
	struct solver k = {.m = m};
	bool *complete = ARENA_ARRAY(a, bool, m->proc.n);

	for (uint32_t i = 0; i < m->proc.n; i++) {
		k.proc = i;
		k.p = &m->proc.at[i];
		complete[i] = solve_counts_all_circles(&k);
		arena_free(&k.scratch);
	}
	map_inside_free(&k.inside);
	return complete;
}

void solve_counts(struct arena *a, const struct map *m, const uint64_t *value,
		  const struct endings *endings, struct solved *s)
{
	solve_counts_again(a, m, NULL, value, endings, s);
}

/* one share of the procedures: what each did is its own affair */
struct solve_share {
	struct solver k;
	uint32_t from, end;
	struct solve_sum *sum; /* by procedure, of all shares */
	struct stub_calls calls;
};

/* nothing ran, which is clear before it is there: most of an image is so */
static bool solve_is_out(struct solver *k)
{
	bool idle = !map_may_count(k->m, k->proc, k->value) &&
		    solve_is_idle_proc(k);

	arena_free(&k->scratch);
	return idle;
}

static void solve_inside(struct solve_share *x)
{
	struct solver *k = &x->k;

	map_need(k->m, k->proc);
	solve_recall(k->s, k->p);
	solve_proc(k);
	if (k->s->idle[k->proc])
		return;
	solve_add_up(k, &x->sum[k->proc]);
	stub_calls_list(&x->calls, k->s, k->proc);
}

static void *solve_procs(void *share)
{
	struct solve_share *x = share;
	struct solved *s = x->k.s;
	uint32_t first = x->from;

	for (uint32_t i = x->from; i < x->end; i++) {
		solve_at(&x->k, i);
		first = solve_drop_before(s, first, i);
		if (solve_is_out(&x->k)) {
			s->consistent[i] = s->calls_known[i] = true;
			s->idle[i] = true;
		} else {
			solve_inside(x);
		}
		s->insns_known[i] = s->idle[i];
	}
	solve_drop(s, first, x->end);
	map_inside_free(&x->k.inside);
	return NULL;
}

/* adds up all procedures but stubs, and who comes to those */
static void solve_sums(struct solver *k, const struct solve_sum *sum)
{
	for (uint32_t i = 0; i < k->m->proc.n; i++) {
		solve_at(k, i);
		if (!k->s->idle[i] && !k->p->stub)
			solve_sum(k, &sum[i]);
	}
}

/* the same of stubs, when all who come to them are known */
static void solve_stub_sums(struct solver *k)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < k->m->proc.n; i++) {
		struct solve_sum sum = {0};

		solve_at(k, i);
		first = solve_drop_before(k->s, first, i);
		if (!k->p->stub)
			continue;
		map_need(k->m, i);
		solve_recall(k->s, k->p);
		solve_stub(k->s, i);
		solve_add_up(k, &sum);
		solve_sum(k, &sum);
	}
	solve_drop(k->s, first, (uint32_t)k->m->proc.n);
}

/* all of the map, from `complete`, `value` and the shortfalls */
static void solve_map(struct solver *k)
{
	uint32_t n = (uint32_t)k->m->proc.n;
	struct solve_sum *sum = NEW_ARRAY(struct solve_sum, n);
	struct solve_share share[SHARES];
	unsigned shares = share_count(n, FEW_PROCS);
	struct stubs stubs = stubs_of(k->m);

	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct solve_share){
			.k = *k, .sum = sum, .calls.stubs = stubs,
			.from = (uint32_t)share_first(n, shares, t),
			.end = (uint32_t)share_first(n, shares, t + 1),
		};
	share_run(solve_procs, share, sizeof *share, shares);
	solve_sums(k, sum);
	for (unsigned t = 0; t < shares; t++) {
		stub_calls_add(&share[t].calls, k->s);
		vec_free(&share[t].calls.v);
	}
	solve_stub_sums(k);
	mem_free(sum);
}

void solve_counts_again(struct arena *a, const struct map *m,
			const bool *complete, const uint64_t *value,
			const struct endings *endings, struct solved *s)
{
	struct callees drawn = {0};
	struct solver k = {.m = m, .value = value, .s = s,
			   .callees = map_callees(m)};

	*s = (struct solved){
		.m = m, .value = value, .complete = complete,
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
	for (uint32_t i = 0; i < m->ncounter; i++)
		s->increments += value[i];
	shortfalls_find(a, m, endings, s);
	if (!k.callees) {
		callees_gather(&drawn, m);
		k.callees = &drawn;
	}
	solve_map(&k);
	callees_free(&drawn);
}
