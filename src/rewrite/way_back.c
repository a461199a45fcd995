/* way_back: see way_back.h. */
#include "rewrite/way_back.h"

#include "base/bisect.h"
#include "elf/bytes.h"
#include "isa/move.h"

struct writer {
	buffer *out;
	struct stretch last;
};

static void add(struct writer *w, uint64_t new, uint64_t old, bool runs)
{
	uint64_t d = new - w->last.new;

	buffer_uleb(w->out, d << 1 | runs);
	buffer_sleb(w->out, (int64_t)(old - w->last.old));
	w->last = (struct stretch){new, old, runs};
}

/* what is inserted before a span, the span, and the jump behind it */
static void add_span(struct writer *w, const struct span *s, bool follows)
{
	uint64_t first = s->arrive - s->fall;

	if (first < s->start)
		add(w, first, s->old, false);
	if (s->form != MOVE_COPY)
		add(w, s->start, s->old, false);
	else if (first < s->start || !follows || !w->last.runs ||
		 w->last.old + (s->start - w->last.new) != s->old)
		add(w, s->start, s->old, true);
	if (s->glue)
		add(w, s->start + (s->form == MOVE_COPY ? s->size : 0),
		    s->old + s->size, false);
}

void way_back_write(const struct moves *m, buffer *out)
{
	struct writer w = {.out = out};
	size_t s = 0;

	for (size_t i = 0; i < m->moved.n; i++) {
		const struct moved *p = &m->moved.at[i];
		bool follows = false;

		for (; s < m->map.span.n &&
		       m->map.span.at[s].old < p->old_end; s++) {
			add_span(&w, &m->map.span.at[s], follows);
			follows = true;
		}
		for (uint32_t k = p->stub; k < p->stub + p->nstub; k++)
			add(&w, m->stub.at[k].start, m->stub.at[k].like,
			    false);
	}
}

int way_back_read(struct way_back *w, const uint8_t *bytes, size_t size)
{
	struct bytes b = bytes_window(bytes, size, 0);
	struct stretch s = {0};

	*w = (struct way_back){0};
	while (bytes_left(&b)) {
		uint64_t new = bytes_uleb(&b);

		s.new += new >> 1;
		s.runs = new & 1;
		s.old += bytes_sleb(&b);
		vec_push(&w->stretch, s);
	}
	if (!b.bad)
		return 0;
	way_back_free(w);
	return -1;
}

uint64_t way_back_find(const struct way_back *w, uint64_t new)
{
	const struct stretch *v = w->stretch.at;
	size_t i;

	bisect(i, w->stretch.n, v[i].new <= new);
	if (!i)
		return 0;
	return v[i - 1].old + (v[i - 1].runs ? new - v[i - 1].new : 0);
}

void way_back_free(struct way_back *w)
{
	vec_free(&w->stretch);
}
