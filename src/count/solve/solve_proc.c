/*
 * solve_proc: one procedure, from its counters.
 *
 * Most procedures of an image never run, so one whose counters are all 0 is
 * looked at first without its graph. Flow runs in circles (by way of EXIT, if
 * not inside), and a circle with a counter on it would have been counted: if
 * no circle is without one, nothing ran. That is exact; where some circle has
 * no counter the general way decides what is known.
 */
#include "count/solve/solve_int.h"

#include "flow/propagate.h"

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

/* nothing of the procedure ran; all counts are 0 already */
void solve_nothing_ran(struct solver *k)
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
 * A block that ran was reached, in the end from outside the procedure. So what
 * cannot be reached but by edges that never ran did not run: this tells some
 * cycles without counters.
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

	return v < k->p->nblock && (v == k->p->root ||
	       callees_has(k->callees, k->m->block.at[k->p->block +
						      v].start));
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
	const struct solved *s = k->s;

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

/* whether lost_counts i is one of the procedure's blocks */
bool solve_falls_short(const struct solver *k, uint32_t i)
{
	return i < k->s->nlost_counts &&
	       k->s->lost_counts[i].block < k->p->block + k->p->nblock;
}

/* frames that ended in each of nv vertices, or NULL: none did */
static const uint64_t *solve_deaths(struct solver *k, uint32_t nv)
{
	uint64_t *death;

	if (!solve_falls_short(k, k->lost_counts))
		return NULL;
	death = ARENA_ARRAY(&k->scratch, uint64_t, nv);
	for (uint32_t i = k->lost_counts; solve_falls_short(k, i); i++)
		death[k->s->lost_counts[i].block - k->p->block] +=
			k->s->lost_counts[i].count;
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
void solve_forget(struct solver *k)
{
	const struct solved *s = k->s;

	s->consistent[k->proc] = false;
	s->calls_known[k->proc] = false;
	s->calls[k->proc] = 0;
}

/* nor of its blocks and edges; requires: they are there */
void solve_forget_inside(struct solver *k)
{
	const struct solved *s = k->s;

	memset(s->block_known + k->p->block, false, k->p->nblock);
	memset(s->edge_known + k->p->edge, false, k->p->nedge);
	memset(s->block + k->p->block, 0, k->p->nblock * sizeof *s->block);
	memset(s->edge + k->p->edge, 0, k->p->nedge * sizeof *s->edge);
}

/* turns to procedure i */
void solve_at(struct solver *k, uint32_t i)
{
	k->proc = i;
	k->p = &k->m->proc.at[i];
	k->lost_counts = lost_counts_first(k->s, k->p->block);
}

/* if all its counters are 0, did nothing of it run? */
static bool solve_is_complete(struct solver *k)
{
	const bool *open = map_open(k->m);
	struct map_inside inside = {0};

	if (open)
		return !open[k->proc];
	/* nothing of a map that is being drawn is packed: inside stays empty */
	return map_counts_all_cycles(&k->scratch, k->m, k->proc, &inside);
}

/* whether its counters say that nothing ran; requires: s->ran is right */
bool solve_is_idle_proc(struct solver *k)
{
	return !k->p->unknown && k->p->nblock && !k->p->stub &&
	       !k->s->ran[k->proc] && !solve_falls_short(k, k->lost_counts) &&
	       solve_is_complete(k);
}

/* all of it, but of a stub nothing */
void solve_proc(struct solver *k)
{
	const struct solved *s = k->s;

	s->consistent[k->proc] = true;
	s->ran[k->proc] = !solve_is_silent(k);
	s->idle[k->proc] = solve_is_idle_proc(k);
	if (s->idle[k->proc])
		solve_nothing_ran(k);
	else if (!k->p->unknown && k->p->nblock && !k->p->stub)
		solve_flow(k);
	else
		/* of a stub, unless the count of one of its callers is not */
		s->calls_known[k->proc] = k->p->stub;
	arena_free(&k->scratch);
}

struct stubs stubs_of(const struct map *m)
{
	struct stubs x = {0, m->proc.n};

	while (x.end > 0 && !m->proc.at[x.end - 1].stub)
		x.end--;
	while (x.first < x.end && !m->proc.at[x.first].stub)
		x.first++;
	return x;
}

/* the stub that begins at the address, or NULL; procedures are by entry */
static const struct map_proc *stub_at(const struct map *m, struct stubs x,
				      uint64_t entry)
{
	const struct map_proc *v = &m->proc.at[x.first];
	size_t i, n = x.end - x.first;

	if (!n || entry < v[0].entry || entry > v[n - 1].entry)
		return NULL;
	bisect(i, n, v[i].entry < entry);
	return i < n && v[i].entry == entry && v[i].stub ? &v[i] : NULL;
}

void stub_calls_list(struct stub_calls *c, const struct solved *s,
		     uint32_t proc)
{
	const struct map *m = s->m;
	const struct map_proc *p = &m->proc.at[proc], *to;

	for (uint32_t e = p->edge; e < p->edge + p->nedge; e++) {
		struct stub_call x = {.proc = proc, .count = s->edge[e],
				      .known = s->edge_known[e]};

		if (!m->edge.at[e].callee)
			continue;
		to = stub_at(m, c->stubs, m->edge.at[e].callee);
		if (!to)
			continue;
		x.stub = (uint32_t)(to - m->proc.at);
		vec_push(&c->v, x);
	}
}

void stub_calls_add(const struct stub_calls *c, struct solved *s)
{
	for (size_t i = 0; i < c->v.n; i++) {
		const struct stub_call *x = &c->v.at[i];
		uint64_t *calls = &s->calls[x->stub];

		/* of a procedure that proved wrong nothing is known */
		if (!x->known || !s->consistent[x->proc] ||
		    __builtin_add_overflow(*calls, x->count, calls))
			s->calls_known[x->stub] = false;
	}
}

void solve_stub(const struct solved *s, uint32_t proc)
{
	const struct map_proc *p = &s->m->proc.at[proc];

	if (!s->calls_known[proc])
		s->calls[proc] = 0;
	s->block[p->block] = s->calls[proc];
	s->block_known[p->block] = s->calls_known[proc];
	for (uint32_t e = p->edge; e < p->edge + p->nedge; e++) {
		s->edge[e] = s->calls[proc];
		s->edge_known[e] = s->calls_known[proc];
	}
}
