/* bucket_index: see bucket_index.h. */
#include "base/bucket_index.h"

#include "base/mem.h"

struct bucket_index bucket_begin(uint32_t n, uint64_t first, uint64_t last)
{
	struct bucket_index s = {.first = first};

	if (!n)
		return s;
	while ((last - first) >> s.shift >= n)
		s.shift++;
	s.nbucket = (uint32_t)((last - first) >> s.shift) + 1;
	s.start = mem_alloc(s.nbucket * sizeof *s.start);
	return s;
}

void bucket_add(struct bucket_index *s, uint64_t key)
{
	uint64_t bucket = (key - s->first) >> s->shift;

	while (s->filled <= bucket)
		s->start[s->filled++] = s->n;
	s->n++;
}

void bucket_free(struct bucket_index *s)
{
	mem_free(s->start);
	*s = (struct bucket_index){0};
}
