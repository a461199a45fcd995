/* map_graph: see map_graph.h. */
#include "count/map/map_graph.h"

#include "base/bisect.h"

/* what edges from EXIT leave, and what those to it arrive at */
static uint32_t outside(const struct map_proc *p)
{
	return map_exit(p);
}

static uint32_t graph_exit(const struct map_proc *p)
{
	return map_exit(p) + 1;
}

void map_graph_begin(struct graph_sketch *s, const struct map_proc *p)
{
	graph_add_vertices(s, graph_exit(p) + 1);
	for (uint32_t v = p->nblock; v <= outside(p); v++)
		vec_push(&s->hubs, v);
	vec_reserve(&s->from, p->nedge);
	vec_reserve(&s->to, p->nedge);
}

uint32_t map_graph_add(struct graph_sketch *s, const struct map_proc *p,
		       uint32_t from, uint32_t to)
{
	return graph_add_edge(s, from, to == map_exit(p) ? graph_exit(p) : to);
}

void map_graph_seal(struct arena *a, struct graph_sketch *s,
		    const struct map_proc *p, struct graph *g)
{
	graph_seal(a, s, outside(p), graph_exit(p), g);
}

void map_graph(struct arena *a, const struct map *m, const struct map_proc *p,
	       struct graph *g)
{
	const struct map_edge *e = &m->edge.at[p->edge];
	struct graph_sketch s = {0};

	map_graph_begin(&s, p);
	for (uint32_t i = 0; i < p->nedge; i++)
		map_graph_add(&s, p, e[i].from, e[i].to);
	map_graph_seal(a, &s, p, g);
}

void callees_gather(struct callees *c, const struct map *m)
{
	*c = (struct callees){0};
	for (size_t i = 0; i < m->edge.n; i++)
		if (m->edge.at[i].callee)
			vec_push(&c->v, m->edge.at[i].callee);
	callees_sort(c);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void callees_sort(struct callees *c)
{
	size_t n = 0;

	mem_sort(c->v.at, c->v.n, sizeof *c->v.at, ascending);
	for (size_t i = 0; i < c->v.n; i++)
		if (!n || c->v.at[i] != c->v.at[n - 1])
			c->v.at[n++] = c->v.at[i];
	c->v.n = n;
}

bool callees_has(const struct callees *c, uint64_t address)
{
	size_t i;

	bisect(i, c->v.n, c->v.at[i] < address);
	return i < c->v.n && c->v.at[i] == address;
}

void callees_free(struct callees *c)
{
	vec_free(&c->v);
}

/* whether vertex v of the procedure has no counter */
static bool is_open(const struct map_proc *p, const struct map_inside *x,
		    uint32_t v)
{
	return v >= p->nblock || x->block[v].counter == MAP_NONE;
}

/* edges without counters as lists, and how many of them arrive where */
struct open_edges {
	uint32_t *first, *next, *to; /* first: by vertex */
	uint32_t *arriving;	     /* by vertex */
};

static void open_edges_find(struct arena *a, const struct map_proc *p,
			    const struct map_inside *x, struct open_edges *o)
{
	uint32_t nv = map_exit(p) + 1;

	o->first = graph_nones(a, nv);
	o->arriving = ARENA_ARRAY(a, uint32_t, nv);
	o->next = ARENA_ARRAY(a, uint32_t, p->nedge);
	o->to = ARENA_ARRAY(a, uint32_t, p->nedge);
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct map_edge *d = &x->edge[i];

		if (d->counter != MAP_NONE || !is_open(p, x, d->from) ||
		    !is_open(p, x, d->to))
			continue;
		o->to[i] = d->to;
		o->next[i] = o->first[d->from];
		o->first[d->from] = i;
		o->arriving[d->to]++;
	}
}

/* vertices go when no edge without a counter arrives any more */
bool map_counts_all_cycles(struct arena *a, const struct map *m, uint32_t proc,
			   struct map_inside *x)
{
	uint32_t nv = map_exit(&m->proc.at[proc]) + 1, n = 0;
	uint32_t *gone = ARENA_ARRAY(a, uint32_t, nv);
	struct open_edges o;

	map_look(m, proc, x);
	open_edges_find(a, &m->proc.at[proc], x, &o);
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

bool *map_find_open(const struct map *m)
{
	bool *open = NEW_ARRAY(bool, m->proc.n + 1);
	struct map_inside x = {0};
	struct arena scratch = {0};

	for (uint32_t i = 0; i < m->proc.n; i++) {
		open[i] = !map_counts_all_cycles(&scratch, m, i, &x);
		arena_free(&scratch);
	}
	map_inside_free(&x);
	return open;
}
