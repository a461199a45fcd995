/*
 * old_pool: room for islands in old text.
 *
 * Old text can be so large that a jump from its start does not reach the new
 * code behind its end, nor an island there. Where code moved, the old text
 * has room: trampolines at which control never arrives. In a file that needs
 * it, some of the longest runs of such trampolines are given up for islands; a
 * jump there against all expectation goes astray. All others stay what they
 * are.
 */
#include "rewrite/rewrite_int.h"

#include "base/parallel.h"

enum {
	WINDOW = 32 << 20, /* bytes of old text that get pools of their own */
	PER_WINDOW = 4,
	SHORTEST = 16, /* trampolines */
};

/* the longest runs of a stretch of old text, the longest first */
struct best {
	struct pool at[PER_WINDOW];
	unsigned n;
};

static void best_add(struct best *b, struct pool p)
{
	for (unsigned i = 0; i < b->n; i++)
		if (p.room > b->at[i].room) {
			struct pool less = b->at[i];

			b->at[i] = p;
			p = less;
		}
	if (b->n < PER_WINDOW)
		b->at[b->n++] = p;
}

static void best_take(struct rewriter *r, const struct best *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->at[i].room >= SHORTEST)
			vec_push(&r->pool, b->at[i]);
}

/* adds the span's runs; one that begins with it may go on from the last */
static void add_span(const struct rewriter *r, const struct span *s,
		     struct pool *run, struct best *b)
{
	unsigned size = r->move->jump_size;

	for (uint32_t i = 0; i < s->size; i += size) {
		uint64_t at = s->old + i;
		bool free = old_text_is_free(r, at);
		bool goes_on = run->room &&
			       run->addr + (uint64_t)run->room * size == at;

		if (goes_on && free) {
			run->room++;
			continue;
		}
		best_add(b, *run);
		*run = (struct pool){.addr = at, .before = UINT32_MAX,
				     .old = true, .room = free};
	}
}

/* some jump between old and new text may not reach */
static bool is_far(const struct rewriter *r)
{
	return r->m.moved.n && r->text_end - r->m.moved.at[0].old_start >=
				       r->move->jump_reach;
}

/* spans of a stretch of old text, and the best runs there */
struct window {
	size_t from, end;
	struct best best;
};

typedef VEC(struct window) windows;

/* parallel_for(): what is best in each of some windows */
struct search {
	struct rewriter *r;
	windows window;
};

static void search_windows(void *arg, size_t from, size_t end)
{
	const struct search *s = arg;

	for (struct window *w = &s->window.at[from];
	     w < &s->window.at[end]; w++) {
		struct pool run = {0};

		for (size_t i = w->from; i < w->end; i++)
			add_span(s->r, &s->r->m.map.span.at[i], &run, &w->best);
		best_add(&w->best, run);
	}
}

static void list_windows(const struct rewriter *r, windows *v)
{
	uint64_t stop = 0;

	for (size_t i = 0; i < r->m.map.span.n; i++) {
		const struct span *s = &r->m.map.span.at[i];
		struct window w = {.from = i};

		if (s->old >= stop) {
			vec_push(v, w);
			stop = s->old + WINDOW;
		}
		v->at[v->n - 1].end = i + 1;
	}
}

void old_pools_find(struct rewriter *r)
{
	struct search s = {.r = r};

	if (!is_far(r))
		return;
	list_windows(r, &s.window);
	parallel_for(search_windows, &s, s.window.n, 2);
	for (size_t i = 0; i < s.window.n; i++)
		best_take(r, &s.window.at[i].best);
	vec_free(&s.window);
}
