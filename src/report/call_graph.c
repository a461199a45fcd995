/* call_graph: see call_graph.h. */
#include "report/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "flow/dfs.h"

/*
 * Each of so many procedures that are not counted may have called each of so
 * many that are; of what is cheaper than these, it is not looked at.
 */
enum { NESTED_MOST = 256 };

/* --- vertices */

static int by_key(const void *a, const void *b)
{
	const struct call_vertex *x = a, *y = b;
	const uint64_t k[][2] = {
		{x->kind, y->kind},   {x->signal, y->signal},
		{x->image, y->image}, {x->proc, y->proc},
		{x->addr, y->addr},
	};

	for (unsigned i = 0; i < sizeof k / sizeof *k; i++)
		if (k[i][0] != k[i][1])
			return k[i][0] < k[i][1] ? -1 : 1;
	return 0;
}

static struct call_vertex caller_of(const struct run_call *c)
{
	struct call_vertex v = {.kind = VERTEX_PROC, .image = c->image,
				.proc = c->proc};

	if (c->kind == CALL_OUTSIDE)
		v.kind = VERTEX_OUTSIDE;
	if (c->kind == CALL_SIGNAL) {
		v.kind = VERTEX_SIGNAL;
		v.signal = c->signal;
	}
	return v;
}

static struct call_vertex callee_of(const struct call_graph *g,
				    const struct run_call *c)
{
	struct call_vertex v = {.kind = VERTEX_PROC, .image = c->to_image,
				.proc = c->to_proc};

	if (!run_procedure_find(&g->procs, c->to_image, c->to_proc)) {
		v.kind = VERTEX_UNCOUNTED;
		v.addr = c->to;
	}
	return v;
}

static uint32_t number_of(const struct call_graph *g, struct call_vertex key)
{
	size_t i;

	bisect(i, g->vertex.n, by_key(&g->vertex.at[i], &key) < 0);
	return (uint32_t)i;
}

static const char *image_name(const struct call_graph *g, uint32_t image)
{
	return image == CALL_NONE ? "" : g->r->t->image[image].name;
}

/* what is measured of it */
static void fill_vertex(struct call_graph *g, struct call_vertex *v)
{
	unsigned n = g->r->list.n;

	v->own_known = v->kind != VERTEX_PROC;
	v->image_name = image_name(g, v->image);
	if (v->kind != VERTEX_PROC)
		return;
	v->is = run_procedure_find(&g->procs, v->image, v->proc);
	v->own_known = v->is && v->is->own_known;
	if (v->own_known)
		v->own = (double)v->is->value[2 * n + g->event];
}

static void add_vertices(struct call_graph *g)
{
	size_t n = 0;

	vec_push(&g->vertex, ((struct call_vertex){.kind = VERTEX_ALL,
						   .name = "all"}));
	vec_push(&g->vertex,
		 ((struct call_vertex){.kind = VERTEX_OUTSIDE,
				       .image = CALL_NONE, .proc = CALL_NONE,
				       .name = "[outside]"}));
	vec_push(&g->vertex,
		 ((struct call_vertex){.kind = VERTEX_THREAD,
				       .image = CALL_NONE, .proc = CALL_NONE,
				       .name = "[thread]"}));
	for (size_t i = 0; i < g->r->call.n; i++) {
		const struct run_call *c = &g->r->call.at[i];
		struct call_vertex from = caller_of(c), to = callee_of(g, c);

		from.name = run_call_site(g->r, c);
		to.name = run_call_callee(g->r, c);
		vec_push(&g->vertex, from);
		vec_push(&g->vertex, to);
	}
	qsort(g->vertex.at, g->vertex.n, sizeof *g->vertex.at, by_key);
	for (size_t i = 0; i < g->vertex.n; i++)
		if (!i || by_key(&g->vertex.at[n - 1], &g->vertex.at[i]))
			g->vertex.at[n++] = g->vertex.at[i];
	g->vertex.n = n;
	for (size_t i = 0; i < n; i++)
		fill_vertex(g, &g->vertex.at[i]);
}

/* --- arcs */

static int by_ends(const void *a, const void *b)
{
	const struct call_arc *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* dearest first: so the search finds what matters before it finds recursion */
static int by_cost(const void *a, const void *b)
{
	const struct call_arc *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return by_ends(a, b);
}

static int by_share(const void *a, const void *b)
{
	const struct call_arc *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void sort_arcs(struct call_graph *g,
		      int (*order)(const void *, const void *))
{
	if (g->arc.n)
		qsort(g->arc.at, g->arc.n, sizeof *g->arc.at, order);
}

/* one arc for all call sites of a procedure and one callee */
static void merge_arcs(struct call_graph *g)
{
	size_t n = 0;

	sort_arcs(g, by_ends);
	for (size_t i = 0; i < g->arc.n; i++) {
		struct call_arc *x = &g->arc.at[i];
		struct call_arc *last = n ? &g->arc.at[n - 1] : NULL;

		if (!last || by_ends(last, x)) {
			g->arc.at[n++] = *x;
			continue;
		}
		last->cost += x->cost;
		last->known &= x->known;
		last->measured &= x->known;
	}
	g->arc.n = n;
}

static void add_arcs(struct call_graph *g)
{
	unsigned n = g->r->list.n;

	for (size_t i = 0; i < g->r->call.n; i++) {
		const struct run_call *c = &g->r->call.at[i];
		struct call_arc x = {
			.from = number_of(g, caller_of(c)),
			.to = number_of(g, callee_of(g, c)),
			.known = c->known,
			.measured = c->known,
		};

		/* of what is not counted none is told to be the outermost */
		if (c->known)
			x.cost = (double)c->value[c->outermost_known ?
						  n + g->event : g->event];
		vec_push(&g->arc, x);
	}
	merge_arcs(g);
}

/* what cannot be a part of the calls of its caller, dearest first, is what
   threads begin with */
static void move_threads(struct call_graph *g)
{
	double *rest = NEW_ARRAY(double, g->vertex.n);

	sort_arcs(g, by_cost);
	for (size_t i = 0; i < g->arc.n; i++)
		rest[g->arc.at[i].from] += g->arc.at[i].cost;
	for (size_t i = 0; i < g->arc.n; i++) {
		struct call_arc *a = &g->arc.at[i];
		const struct run_procedure *p = g->vertex.at[a->from].is;

		if (!p || !p->makes_threads ||
		    rest[a->from] <= (double)p->value[g->event])
			continue;
		rest[a->from] -= a->cost;
		a->from = 2;
	}
	mem_free(rest);
	merge_arcs(g);
}

/* what nothing is known to call, as after a switch of stacks, and roots */
static void add_roots(struct call_graph *g)
{
	bool *called = NEW_ARRAY(bool, g->vertex.n);

	for (size_t i = 0; i < g->arc.n; i++)
		if (g->arc.at[i].from != g->arc.at[i].to)
			called[g->arc.at[i].to] = true;
	for (uint32_t v = 1; v < g->vertex.n; v++) {
		bool root = g->vertex.at[v].kind <= VERTEX_SIGNAL;

		if (!called[v])
			vec_push(&g->arc, ((struct call_arc){
						  .from = root ? 0 : 1,
						  .to = v,
						  .measured = root}));
	}
	mem_free(called);
}

/* --- what is not counted, and calls what is */

/* arcs of [outside] that cost something, dearest first */
struct nested {
	VEC(struct call_arc) outside;
	VEC(struct call_arc) uncounted; /* to each of these: what they cost */
};

static void find_nested(struct nested *x, const struct call_graph *g)
{
	for (uint32_t i = 0; i < g->arc.n; i++) {
		const struct call_arc *a = &g->arc.at[i];

		if (a->from == 1 && a->cost > 0 &&
		    x->outside.n < NESTED_MOST)
			vec_push(&x->outside, *a);
		if (g->vertex.at[a->to].kind == VERTEX_UNCOUNTED &&
		    a->cost > 0 && x->uncounted.n < NESTED_MOST)
			vec_push(&x->uncounted, *a);
	}
}

/* any of them may have called any of what is called from outside */
static void add_nested(struct call_graph *g)
{
	bool *seen = NEW_ARRAY(bool, g->vertex.n);
	struct nested x = {0};

	find_nested(&x, g);
	for (size_t i = 0; i < x.uncounted.n; i++) {
		uint32_t v = x.uncounted.at[i].to;

		for (size_t j = 0; !seen[v] && j < x.outside.n; j++)
			vec_push(&g->arc, ((struct call_arc){
						  .from = v,
						  .to = x.outside.at[j].to,
						  .known = true}));
		seen[v] = true;
	}
	mem_free(seen);
	vec_free(&x.outside);
	vec_free(&x.uncounted);
}

/* --- shares */

struct sharing {
	struct call_graph *g;
	struct graph flow; /* edges are arcs */
	struct dfs dfs;
	uint32_t *cycle; /* by vertex: which recursion it is a part of */
	struct arena arena;
};

static void search(struct sharing *s)
{
	struct graph_sketch sketch = {0};
	struct call_graph *g = s->g;

	graph_add_vertices(&sketch, (uint32_t)g->vertex.n + 1);
	for (size_t i = 0; i < g->arc.n; i++)
		graph_add_edge(&sketch, g->arc.at[i].from, g->arc.at[i].to);
	graph_seal(&s->arena, &sketch, 0, (uint32_t)g->vertex.n, &s->flow);
	dfs_search(&s->arena, &s->flow, &s->dfs);
}

/* before it is guessed what calls what: that would be a circle of nearly all */
static void find_cycles(struct sharing *s)
{
	search(s);
	s->cycle = ARENA_ARRAY(&s->arena, uint32_t, s->flow.nv);
	scc_find(&s->flow, &s->dfs, s->cycle);
}

static void find_reached(struct sharing *s)
{
	struct call_graph *g = s->g;

	search(s);
	for (uint32_t v = 0; v < g->vertex.n; v++)
		g->vertex.at[v].reached = dfs_reached(&s->dfs, v);
}

/* does the arc count, or is it recursion, or never reached? */
static bool counts(const struct sharing *s, uint32_t e)
{
	return e != s->flow.closing && dfs_reached(&s->dfs, s->flow.from[e]) &&
	       !dfs_is_back(&s->flow, &s->dfs, e);
}

/*
 * What v, which is not counted, cost was done by what it called: it takes that
 * of the arcs from outside (by callee), in proportion to what is left of them.
 */
static void take_nested(struct sharing *s, uint32_t v, uint32_t *outside)
{
	struct call_arc *arc = s->g->arc.at;
	double wanted = 0, there = 0;

	for_each_edge_in (e, &s->flow, v)
		wanted += counts(s, e) ? arc[e].cost : 0;
	for_each_edge_out (e, &s->flow, v)
		if (counts(s, e))
			there += arc[outside[arc[e].to]].cost;
	for_each_edge_out (e, &s->flow, v) {
		struct call_arc *from = &arc[outside[arc[e].to]];

		if (!counts(s, e) || !there)
			continue;
		arc[e].cost = wanted >= there ? from->cost :
						wanted * (from->cost / there);
		from->cost -= arc[e].cost;
		from->measured &= !arc[e].cost;
	}
}

/* callees first: what is inside of another has its share before that */
static void take_all_nested(struct sharing *s)
{
	struct call_graph *g = s->g;
	uint32_t *outside = ARENA_ARRAY(&s->arena, uint32_t, g->vertex.n);

	for (uint32_t i = 0; i < g->arc.n; i++)
		if (g->arc.at[i].from == 1)
			outside[g->arc.at[i].to] = i;
	for (uint32_t i = s->dfs.n; i-- > 0;)
		if (g->vertex.at[s->dfs.topo[i]].kind == VERTEX_UNCOUNTED)
			take_nested(s, s->dfs.topo[i], outside);
}

/* the arcs that arrive at a vertex */
struct arriving {
	double worth; /* of the vertex */
	double sum;   /* of the costs that are known */
	uint32_t n, unknown;
	bool inner; /* some are recursion of several procedures */
};

static void look_at_arriving(const struct sharing *s, uint32_t v,
			     struct arriving *x)
{
	*x = (struct arriving){0};
	for_each_edge_in (e, &s->flow, v)
		if (counts(s, e)) {
			x->n++;
			x->unknown += !s->g->arc.at[e].known;
			x->sum += s->g->arc.at[e].cost;
			x->inner |= s->cycle[s->flow.from[e]] == s->cycle[v];
		}
}

static double share_of(const struct arriving *x, const struct call_arc *a)
{
	/* what is not known of the cost of calls is what others leave */
	if (x->sum <= x->worth && (x->unknown || x->sum == x->worth))
		return a->known ? a->cost :
				  (x->worth - x->sum) / x->unknown;
	return x->sum > 0 ? x->worth * (a->cost / x->sum) : x->worth / x->n;
}

/*
 * Shares the worth of v out; requires: what it calls has been. It is worth what
 * its calls cost, where that is known, and what it does has to fit in there. Of
 * procedures that call each other in turn, inner ones are worth what they do:
 * in the cost of their calls are further calls of the outer ones.
 */
static void share_out(struct sharing *s, uint32_t v)
{
	struct call_vertex *is = &s->g->vertex.at[v];
	struct call_arc *arc = s->g->arc.at;
	double inside = is->own;
	struct arriving x;

	for_each_edge_out (e, &s->flow, v)
		if (counts(s, e))
			inside += arc[e].share;
	look_at_arriving(s, v, &x);
	x.worth = x.n && !x.inner && (!x.unknown || x.sum > inside) ? x.sum :
								      inside;
	is->worth = x.worth;
	is->scale = inside > x.worth ? x.worth / inside : 1;
	for_each_edge_in (e, &s->flow, v)
		if (counts(s, e)) {
			arc[e].share = share_of(&x, &arc[e]);
			arc[e].measured &= !arc[e].from ||
					   arc[e].share == arc[e].cost;
		}
}

/* only arcs that have a share stay, and are in the order of callers */
static void keep_shared(struct sharing *s)
{
	struct call_graph *g = s->g;
	size_t n = 0;

	for (uint32_t e = 0; e < g->arc.n; e++)
		if (counts(s, e) && g->arc.at[e].share > 0)
			g->arc.at[n++] = g->arc.at[e];
	g->arc.n = n;
	sort_arcs(g, by_share);
	for (uint32_t i = 0; i < n; i++) {
		struct call_vertex *v = &g->vertex.at[g->arc.at[i].from];

		if (!v->narc++)
			v->first = i;
	}
}

void call_graph_make(struct call_graph *g, struct run_calls *r, unsigned event)
{
	struct sharing s = {.g = g};

	*g = (struct call_graph){.r = r, .event = event};
	run_procedures_make(&g->procs, r);
	add_vertices(g);
	add_arcs(g);
	move_threads(g);
	add_roots(g);
	sort_arcs(g, by_cost);
	find_cycles(&s);
	add_nested(g);
	find_reached(&s);
	take_all_nested(&s);
	for (uint32_t i = s.dfs.n; i-- > 0;)
		share_out(&s, s.dfs.topo[i]);
	keep_shared(&s);
	arena_free(&s.arena);
}

void call_graph_free(struct call_graph *g)
{
	vec_free(&g->vertex);
	vec_free(&g->arc);
	vec_free(&g->procs.v);
}
