/* place: see place.h. */
#include "rewrite/place.h"

#include "base/bisect.h"

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

uint64_t place_arrive(const struct place *p, uint64_t old)
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
