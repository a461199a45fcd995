/*
 * moved: see moved.h.
 */
#include "rewrite/moved.h"

#include <stddef.h>

#include "base/bisect.h"
#include "base/parallel.h"

const struct moved *moves_part(const struct moves *m, uint32_t part)
{
	uint32_t i = part < m->of_part.n ? m->of_part.at[part] : 0;

	return i ? &m->moved.at[i - 1] : NULL;
}

void moves_seal(struct moves *m)
{
	m->of_part.n = 0;
	for (size_t i = 0; i < m->moved.n; i++) {
		while (m->of_part.n < m->moved.at[i].part)
			vec_push(&m->of_part, 0);
		vec_push(&m->of_part, (uint32_t)i + 1);
	}
}

uint32_t parts_cut(const struct cfg *c, unsigned t, unsigned n)
{
	size_t limit = parallel_first(c->block.n, n, t);
	size_t i;

	bisect(i, c->part.n, c->part.at[i].block < limit);
	return t == n ? (uint32_t)c->part.n : (uint32_t)i;
}

size_t moves_cut(const struct moves *m, const struct cfg *c, unsigned t,
		 unsigned n)
{
	uint32_t part = parts_cut(c, t, n);
	size_t i;

	bisect(i, m->moved.n, m->moved.at[i].part < part);
	return i;
}

uint64_t moves_pad(const struct moves *m, uint64_t pad)
{
	const struct landing *l = m->landing.at;
	size_t i;

	bisect(i, m->landing.n, !l[i].from && l[i].pad < pad);
	return i < m->landing.n && !l[i].from && l[i].pad == pad ?
		       l[i].addr : addr_map_arrive(&m->map, pad);
}

void moves_free(struct moves *m)
{
	vec_free(&m->moved);
	vec_free(&m->of_part);
	vec_free(&m->stub);
	vec_free(&m->push);
	vec_free(&m->landing);
	vec_free(&m->map.span);
	bucket_free(&m->map.bucket_index);
}
