/* reverse_map: see reverse_map.h. */
#include "rewrite/output/reverse_map.h"

#include "base/bisect.h"
#include "base/bytes.h"
#include "isa/move.h"

enum { GAP_LEAST = 16 }; /* bytes that may hold something else */

struct writer {
	void (*put)(struct writer *w, const struct code_range *s);
	buffer *out;
	struct code_range last;
	uint64_t new_base, old_base; /* of the table */
};

/* into the section */
static void put_packed(struct writer *w, const struct code_range *s)
{
	uint64_t d = s->new - w->last.new;

	buffer_uleb(w->out, d * RANGE_KINDS + s->kind);
	buffer_sleb(w->out, (int64_t)(s->old - w->last.old));
}

/* into the table */
static void put_entry(struct writer *w, const struct code_range *s)
{
	uint64_t old =
		s->kind == RANGE_NONE ? REVERSE_MAP_NONE : s->old - w->old_base;

	buffer_uint(w->out, 4, s->new - w->new_base);
	if (s->kind == RANGE_RUN)
		old |= REVERSE_MAP_RUN;
	if (s->kind == RANGE_RUN || s->kind == RANGE_ONE)
		old |= REVERSE_MAP_CODE;
	buffer_uint(w->out, 4, old);
}

static void add(struct writer *w, uint64_t new, uint64_t old,
		enum range_kind kind)
{
	struct code_range s = {new, old, (uint8_t)kind};

	w->put(w, &s);
	w->last = s;
}

/* what is inserted before a span, the span, and the jump behind it */
static void add_span(struct writer *w, const struct span *s, bool follows)
{
	uint64_t first = s->arrive - s->fall;

	if (first < s->arrive)
		add(w, first, s->old, RANGE_INSERTED);
	if (s->arrive < s->start)
		add(w, s->arrive, s->old, RANGE_BEFORE);
	if (s->form != MOVE_COPY)
		add(w, s->start, s->old, RANGE_ONE);
	else if (first < s->start || !follows || w->last.kind != RANGE_RUN ||
		 w->last.old + (s->start - w->last.new) != s->old)
		add(w, s->start, s->old, RANGE_RUN);
	if (s->glue)
		add(w, s->start + s->new_size - s->glue, s->old + s->size,
		    RANGE_INSERTED);
}

/* is there more than alignment between two parts, or nothing behind? Where
   ways are looked up from old addresses, too, any byte is more */
static bool gap_behind(const struct writer *w, const struct moves *m, size_t i)
{
	uint64_t least = w->put == put_entry ? 1 : GAP_LEAST;

	return i + 1 == m->moved.n ||
	       m->moved.at[i + 1].start - m->moved.at[i].end >= least;
}

/*
 * Copies of the linker's stubs, which are shorter: before the jump at the end
 * all that the stub does is done.
 */
static void add_links(struct writer *w, const struct links *l,
		      const struct cfg *c, const struct marks *marks)
{
	const struct isa_move *move = c->isa->move;

	for (size_t i = 0; i < l->link.n; i++) {
		uint64_t old = l->link.at[i].old, new = plt_stubs_at(l, c, old);
		uint32_t b = cfg_block_at(c, old);

		if (b == CFG_NONE)
			continue;
		add(w, new, old, RANGE_RUN);
		add(w, new + move->link_size - c->isa->align,
		    marks_last(marks, c, b), RANGE_ONE);
	}
	if (l->link.n)
		add(w, l->addr + plt_stubs_size(l, c), 0, RANGE_NONE);
}

static void write_all(struct writer *w, const struct moves *m,
		      const struct links *l, const struct cfg *c,
		      const struct marks *marks)
{
	size_t s = 0;

	add_links(w, l, c, marks);
	for (size_t i = 0; i < m->moved.n; i++) {
		const struct moved *p = &m->moved.at[i];
		bool follows = false;

		for (; s < m->map.span.n && m->map.span.at[s].old < p->old_end;
		     s++) {
			add_span(w, &m->map.span.at[s], follows);
			follows = true;
		}
		for (uint32_t k = p->stub; k < p->stub + p->nstub; k++)
			add(w, m->stub.at[k].start, m->stub.at[k].like,
			    RANGE_INSERTED);
		if (gap_behind(w, m, i))
			add(w, p->end, 0, RANGE_NONE);
	}
}

void reverse_map_write(const struct moves *m, const struct links *l,
		       const struct cfg *c, const struct marks *marks,
		       buffer *out)
{
	struct writer w = {.put = put_packed, .out = out};

	write_all(&w, m, l, c, marks);
}

void reverse_map_table(const struct moves *m, const struct links *l,
		       const struct cfg *c, const struct marks *marks,
		       uint64_t new_base, uint64_t old_base, buffer *out)
{
	struct writer w = {.put = put_entry,
			   .out = out,
			   .new_base = new_base,
			   .old_base = old_base};

	write_all(&w, m, l, c, marks);
}

int reverse_map_read(struct reverse_map *w, const uint8_t *bytes, size_t size)
{
	struct bytes b = bytes_window(bytes, size, 0);
	struct code_range s = {0};

	*w = (struct reverse_map){0};
	while (bytes_left(&b)) {
		uint64_t new = bytes_uleb(&b);

		s.new += new / RANGE_KINDS;
		s.kind = new % RANGE_KINDS;
		s.old += bytes_sleb(&b);
		vec_push(&w->range, s);
	}
	if (!b.bad)
		return 0;
	reverse_map_free(w);
	return -1;
}

struct place_back reverse_map_find(const struct reverse_map *w, uint64_t new)
{
	const struct code_range *v = w->range.at;
	struct place_back p = {RANGE_NONE, 0, 0, UINT64_MAX};
	size_t i;

	bisect(i, w->range.n, v[i].new <= new);
	if (i < w->range.n)
		p.end = v[i].new;
	if (!i)
		return p;
	p.kind = v[i - 1].kind;
	p.start = v[i - 1].new;
	p.old = v[i - 1].old + (p.kind == RANGE_RUN ? new - p.start : 0);
	return p;
}

void reverse_map_free(struct reverse_map *w)
{
	vec_free(&w->range);
}
