/*
 * moved: see moved.h.
 */
#include "rewrite/moved.h"

#include <stddef.h>

#include "base/bisect.h"

const struct moved *moves_part(const struct moves *m, uint32_t part)
{
	const struct moved *v = m->moved.at;
	size_t i;

	bisect(i, m->moved.n, v[i].part < part);
	return i < m->moved.n && v[i].part == part ? &v[i] : NULL;
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
	vec_free(&m->stub);
	vec_free(&m->push);
	vec_free(&m->landing);
	vec_free(&m->map.span);
}
