/*
 * addr_map: see addr_map.h.
 */
#include "rewrite/addr_map.h"

void addr_map_seal(struct addr_map *m)
{
	size_t n = m->span.n;

	bucket_free(&m->bucket_index);
	if (n)
		m->bucket_index = bucket_begin((uint32_t)n, m->span.at[0].old,
					       m->span.at[n - 1].old);
	for (size_t i = 0; i < n; i++)
		bucket_add(&m->bucket_index, m->span.at[i].old);
}

const struct span *addr_map_span(const struct addr_map *m, uint64_t old)
{
	size_t i;

	bucket_bisect(i, &m->bucket_index, old + 1, m->span.n,
		      m->span.at[i].old <= old);
	if (!i || old - m->span.at[i - 1].old >= m->span.at[i - 1].size)
		return NULL;
	return &m->span.at[i - 1];
}

uint64_t addr_map_arrive(const struct addr_map *m, uint64_t old)
{
	const struct span *s = addr_map_span(m, old);

	if (!s)
		return old;
	return old == s->old ? s->arrive : s->start + (old - s->old);
}

uint64_t addr_map_insn(const struct addr_map *m, uint64_t old)
{
	const struct span *s = addr_map_span(m, old);

	return s ? s->start + (old - s->old) : old;
}

uint64_t addr_map_end(const struct addr_map *m, uint64_t old_end)
{
	const struct span *s = addr_map_span(m, old_end - 1);

	if (!s)
		return old_end;
	return old_end == s->old + s->size ? s->start + s->new_size :
					     s->start + (old_end - s->old);
}
