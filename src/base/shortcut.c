/* shortcut: see shortcut.h. */
#include "base/shortcut.h"

#include "base/mem.h"

struct shortcut shortcut_begin(uint32_t n, uint64_t first, uint64_t last)
{
	struct shortcut s = {.first = first};

	if (!n)
		return s;
	while ((last - first) >> s.shift >= n)
		s.shift++;
	s.nstretch = (uint32_t)((last - first) >> s.shift) + 1;
	s.start = mem_alloc(s.nstretch * sizeof *s.start);
	return s;
}

void shortcut_add(struct shortcut *s, uint64_t key)
{
	uint64_t stretch = (key - s->first) >> s->shift;

	while (s->filled <= stretch)
		s->start[s->filled++] = s->n;
	s->n++;
}

void shortcut_free(struct shortcut *s)
{
	mem_free(s->start);
	*s = (struct shortcut){0};
}
