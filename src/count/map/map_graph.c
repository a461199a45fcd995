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
