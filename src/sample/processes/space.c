/* space: see space.h. */
#include "sample/processes/space.h"

#include "base/bisect.h"

struct space *space_of(const struct spaces *s, uint32_t pid)
{
	uint32_t i = dict_get(&s->by_pid, pid);

	return i == DICT_NONE ? NULL : &s->v.at[i];
}

struct space *space_make(struct spaces *s, uint32_t pid)
{
	struct space *had = space_of(s, pid), new = {.pid = pid};

	if (had)
		return had;
	dict_put(&s->by_pid, pid, (uint32_t)s->v.n);
	vec_push(&s->v, new);
	return &s->v.at[s->v.n - 1];
}

void space_clear(struct space *s)
{
	s->map.n = s->remapped.n = 0;
	s->misses = s->patience = s->made = s->process = 0;
	s->ended = false;
	s->blurred = 0;
}

void space_free(struct space *s)
{
	vec_free(&s->map);
	vec_free(&s->remapped);
}

struct space *space_copy(struct spaces *s, uint32_t pid, uint32_t parent)
{
	struct space *to = space_make(s, pid), *from = space_of(s, parent);

	space_clear(to);
	if (!from || from == to)
		return to;
	vec_append(&to->map, &from->map);
	memcpy(to->name, from->name, sizeof to->name);
	return to;
}

/* the first mapping that ends behind the address */
static size_t first_behind(const struct space *s, uint64_t addr)
{
	size_t i;

	bisect(i, s->map.n, s->map.at[i].end <= addr);
	return i;
}

/* puts one in at place i */
static void insert(struct space *s, size_t i, struct mapping m)
{
	vec_push(&s->map, m);
	memmove(&s->map.at[i + 1], &s->map.at[i],
		(s->map.n - 1 - i) * sizeof m);
	s->map.at[i] = m;
}

/* takes [start, end) out of what is mapped */
static void cut(struct space *s, uint64_t start, uint64_t end)
{
	size_t i = first_behind(s, start), last;

	if (i == s->map.n)
		return;
	if (s->map.at[i].start < start) {
		struct mapping rest = s->map.at[i];

		s->map.at[i].end = start;
		rest.offset += start - rest.start;
		rest.start = start;
		insert(s, ++i, rest);
	}
	for (last = i; last < s->map.n && s->map.at[last].end <= end; last++)
		;
	if (last < s->map.n && s->map.at[last].start < end) {
		s->map.at[last].offset += end - s->map.at[last].start;
		s->map.at[last].start = end;
	}
	memmove(&s->map.at[i], &s->map.at[last],
		(s->map.n - last) * sizeof *s->map.at);
	s->map.n -= last - i;
}

void space_map(struct space *s, const struct mapping *m)
{
	if (m->start >= m->end)
		return;
	cut(s, m->start, m->end);
	insert(s, first_behind(s, m->start), *m);
}

const struct mapping *space_find(const struct space *s, uint64_t addr)
{
	size_t i = first_behind(s, addr);

	return i < s->map.n && s->map.at[i].start <= addr ? &s->map.at[i] :
							    NULL;
}

void spaces_keep(struct spaces *s,
		 bool (*keep)(void *arg, struct space *s), void *arg)
{
	size_t n = 0;

	dict_free(&s->by_pid);
	s->by_pid = (struct dict){0};
	for (size_t i = 0; i < s->v.n; i++) {
		if (!keep(arg, &s->v.at[i])) {
			space_free(&s->v.at[i]);
			continue;
		}
		dict_put(&s->by_pid, s->v.at[i].pid, (uint32_t)n);
		s->v.at[n++] = s->v.at[i];
	}
	s->v.n = n;
}

void spaces_free(struct spaces *s)
{
	for (size_t i = 0; i < s->v.n; i++)
		space_free(&s->v.at[i]);
	vec_free(&s->v);
	dict_free(&s->by_pid);
}
