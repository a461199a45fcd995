/* stubs: see stubs.h. */
#include "count/stubs.h"

#include "base/bisect.h"

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
