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

enum { FEW_PROCS = 500 }; /* not worth a thread */

struct solver {
	const struct map *m;
	const uint64_t *value;
	const bool *complete; /* see solve_complete(), or NULL */
	struct solved *s;
	uint32_t shortfall; /* the first of this procedure in s->shortfall */
	struct arena scratch; /* of one procedure */
	const struct callees *callees;
	bool *idle; /* by procedure: it is known that nothing of it ran */
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
	return v >= k->p->nblock || solve_block_counter(k, v) == MAP_NONE;
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
		const struct map_edge *d = &k->m->edge.at[p->edge + i];

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
	k->idle[k->proc] = true;
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
	memset(s->block_known + k->p->block, false, k->p->nblock);
	memset(s->edge_known + k->p->edge, false, k->p->nedge);
	memset(s->block + k->p->block, 0, k->p->nblock * sizeof *s->block);
	memset(s->edge + k->p->edge, 0, k->p->nedge * sizeof *s->edge);
	s->calls_known[k->proc] = false;
	s->calls[k->proc] = 0;
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

/* sums over blocks; no machine runs 2^64 instructions: such counts are wrong */
static void solve_sum(struct solver *k)
{
	struct solved *s = k->s;
	unsigned __int128 insns = s->instructions;
	unsigned __int128 blocks = s->redundant_increments;
	bool all = k->p->nblock > 0;

	for (uint32_t i = k->p->block; i < k->p->block + k->p->nblock; i++) {
		all &= s->block_known[i];
		blocks += k->p->stub ? 0 : s->block[i];
		insns += (unsigned __int128)s->block[i] *
			 k->m->block.at[i].ninsn;
	}
	if (insns > UINT64_MAX || blocks > UINT64_MAX || !solve_is_short(k)) {
		solve_forget(k);
		s->unknown_procs++;
		return;
	}
	s->instructions = (uint64_t)insns;
	for (uint32_t i = k->shortfall; solve_falls_short(k, i); i++)
		s->instructions -= shortfall_insns(s, k->m, i);
	s->redundant_increments = (uint64_t)blocks;
	s->unknown_procs += !all;
}

static void solve_proc(struct solver *k)
{
	k->s->consistent[k->proc] = true;
	if (k->p->stub)
		return; /* when all who come to it are known */
	if (!k->p->unknown && !k->p->nblock)
		k->s->calls_known[k->proc] = false;
	else if (!k->p->unknown && solve_is_silent(k) &&
		 !solve_falls_short(k, k->shortfall) &&
		 (k->complete ? k->complete[k->proc] :
				solve_counts_all_circles(k)))
		solve_nothing_ran(k);
	else if (!k->p->unknown)
		solve_flow(k);
	arena_free(&k->scratch);
}

const bool *solve_complete(struct arena *a, const struct map *m)
{
	struct solver k = {.m = m};
	bool *complete = ARENA_ARRAY(a, bool, m->proc.n);

	for (size_t i = 0; i < m->proc.n; i++) {
		k.p = &m->proc.at[i];
		complete[i] = solve_counts_all_circles(&k);
		arena_free(&k.scratch);
	}
	return complete;
}

void solve_counts(struct arena *a, const struct map *m, const uint64_t *value,
		  const struct endings *endings, struct solved *s)
{
	solve_counts_again(a, m, NULL, value, endings, s);
}

/* turns to procedure i */
static void solve_turn(struct solver *k, uint32_t i)
{
	k->proc = i;
	k->p = &k->m->proc.at[i];
	k->shortfall = shortfall_first(k->s, k->p->block);
}

/* one share of the procedures: what each did is its own affair */
static void solve_procs(void *arg, size_t from, size_t end)
{
	struct solver k = *(const struct solver *)arg;

	for (size_t i = from; i < end; i++) {
		solve_turn(&k, (uint32_t)i);
		solve_proc(&k);
	}
}

/* sums over those that are stubs, or over the others */
static void solve_sums(struct solver *k, bool stubs)
{
	for (uint32_t i = 0; i < k->m->proc.n; i++) {
		if (k->idle[i] || k->m->proc.at[i].stub != stubs)
			continue;
		solve_turn(k, i);
		solve_sum(k);
	}
}

/* all of the map, from `complete`, `value` and the shortfalls */
static void solve_map(struct solver *k)
{
	struct callees callees;

	callees_gather(&callees, k->m);
	k->callees = &callees;
	k->idle = NEW_ARRAY(bool, k->m->proc.n);
	share_items(solve_procs, k, k->m->proc.n, FEW_PROCS);
	callees_free(&callees);
	solve_sums(k, false);
	solve_stubs(k->m, k->s);
	solve_sums(k, true);
	mem_free(k->idle);
}

void solve_counts_again(struct arena *a, const struct map *m,
			const bool *complete, const uint64_t *value,
			const struct endings *endings, struct solved *s)
{
	struct solver k = {.m = m, .value = value, .s = s,
			   .complete = complete};

	*s = (struct solved){
		.block = ARENA_ARRAY(a, uint64_t, m->block.n),
		.edge = ARENA_ARRAY(a, uint64_t, m->edge.n),
		.block_known = ARENA_ARRAY(a, bool, m->block.n),
		.edge_known = ARENA_ARRAY(a, bool, m->edge.n),
		.arrival = ARENA_ARRAY(a, bool, m->edge.n),
		.calls = ARENA_ARRAY(a, uint64_t, m->proc.n),
		.calls_known = ARENA_ARRAY(a, bool, m->proc.n),
		.consistent = ARENA_ARRAY(a, bool, m->proc.n),
	};
	for (uint32_t i = 0; i < m->ncounter; i++)
		s->increments += value[i];
	shortfalls_find(a, m, endings, s);
	solve_map(&k);
}
