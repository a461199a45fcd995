/* stubs: see stubs.h. */
#include "count/stubs.h"

#include "base/bisect.h"

/* procedures from the first stub to behind the last: the linker's few pages */
struct stubs {
	size_t first, end;
};

static struct stubs stubs_of(const struct map *m)
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

/* an edge that leads to a stub, taken n times */
static void add(const struct map *m, struct solved *s,
		const struct map_proc *p, uint64_t n, bool known)
{
	size_t i = (size_t)(p - m->proc.at);

	if (!known ||
	    __builtin_add_overflow(s->calls[i], n, &s->calls[i]))
		s->calls_known[i] = false;
}

/* what calls say is what its block and edges say */
static void spread(struct solved *s, const struct map_proc *p, size_t i)
{
	if (!s->calls_known[i])
		s->calls[i] = 0;
	s->block[p->block] = s->calls[i];
	s->block_known[p->block] = s->calls_known[i];
	for (uint32_t e = p->edge; e < p->edge + p->nedge; e++) {
		s->edge[e] = s->calls[i];
		s->edge_known[e] = s->calls_known[i];
	}
}

void solve_stubs(const struct map *m, struct solved *s)
{
	struct stubs x = stubs_of(m);

	for (size_t i = x.first; i < x.end; i++)
		s->calls_known[i] |= m->proc.at[i].stub;
	for (size_t e = 0; e < m->edge.n; e++) {
		const struct map_proc *p = NULL;

		if (m->edge.at[e].callee)
			p = stub_at(m, x, m->edge.at[e].callee);
		if (p)
			add(m, s, p, s->edge[e], s->edge_known[e]);
	}
	for (size_t i = x.first; i < x.end; i++)
		if (m->proc.at[i].stub)
			spread(s, &m->proc.at[i], i);
}
