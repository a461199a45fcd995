/*
 * moved: see moved.h.
 */
#include "rewrite/survey/moved.h"

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
	return i < m->landing.n && !l[i].from && l[i].pad == pad
		       ? l[i].addr
		       : addr_map_entry(&m->map, pad);
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

void place_open(struct place *p, const struct moves *m,
		const struct moved *moved)
{
	const struct span *s = m->map.span.at;
	size_t first, end;

	bisect(first, m->map.span.n,
	       s[first].old + s[first].size <= moved->old_start);
	bisect(end, m->map.span.n, s[end].old < moved->old_end);
	*p = (struct place){.moved = moved};
	if (first < end) {
		p->span = s + first;
		p->nspan = end - first;
	}
}

/* the address, in the part's body */
static uint64_t place_clamp(const struct place *p, uint64_t addr)
{
	if (addr < p->moved->start)
		return p->moved->start;
	return addr < p->moved->body_end ? addr : p->moved->body_end;
}

uint64_t place_entry(const struct place *p, uint64_t old)
{
	const struct span *s = p->span;
	size_t i;

	if (old <= p->moved->old_start)
		return p->moved->start;
	bisect(i, p->nspan, s[i].old + s[i].size <= old);
	if (old >= p->moved->old_end || i == p->nspan)
		return p->moved->body_end;
	return place_clamp(p, old <= s[i].old ? s[i].arrive - s[i].fall :
						s[i].start + (old - s[i].old));
}

uint64_t place_end(const struct place *p, uint64_t old_end)
{
	const struct span *s = p->span;
	size_t i;

	bisect(i, p->nspan, s[i].old < old_end);
	if (old_end <= p->moved->old_start || !i)
		return p->moved->start;
	s += i - 1;
	if (old_end >= s->old + s->size)
		return place_clamp(p, s->start + s->new_size);
	return place_clamp(p, s->start + (old_end - s->old));
}

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

uint64_t addr_map_entry(const struct addr_map *m, uint64_t old)
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
