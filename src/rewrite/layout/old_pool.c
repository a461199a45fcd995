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
#include "rewrite/survey/survey_int.h"

enum {
	WINDOW = 32 << 20, /* bytes of old text that get pools of their own */
	PER_WINDOW = 4,
	SHORTEST = 16, /* trampolines */
};

bool old_is_trap(const struct inputs *in, uint64_t old)
{
	struct insn i;

	in->isa->scan(old_code(in, old), in->isa->max_len, old, &i);
	return i.kind == INSN_TRAP;
}

/* control may arrive there */
static bool is_expected(const struct layout *l, uint64_t old)
{
	return indirect_entry_expected(l->in->survey, old) ||
	       sites_find(&l->sites, SPOT_INDIRECT_ENTRY, old);
}

bool old_is_free(const struct layout *l, uint64_t old)
{
	const struct span *s = addr_map_span(&l->m.map, old);

	return !is_expected(l, old) && !(s && s->form == FORM_HOME) &&
	       !old_is_trap(l->in, old) &&
	       !indirect_entry_open(l->in->survey, old);
}

/* the longest runs of a range of old text, the longest first */
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

static void best_take(struct islands *s, const struct best *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->at[i].room >= SHORTEST)
			vec_push(&s->pool, b->at[i]);
}

/* adds the span's runs; one that begins with it may go on from the last */
static void add_span(const struct layout *l, const struct span *s,
		     struct pool *run, struct best *b)
{
	unsigned size = l->in->move->jump_size;

	for (uint32_t i = 0; i < s->size; i += size) {
		uint64_t at = s->old + i;
		bool free = old_is_free(l, at);
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
static bool is_far(const struct layout *l)
{
	return l->m.moved.n && l->text_end - l->m.moved.at[0].old_start >=
				       l->in->move->jump_reach;
}

/* spans of a range of old text, and the best runs there */
struct window {
	size_t from, end;
	struct best best;
};

typedef VEC(struct window) windows;

/* parallel_for(): what is best in each of some windows */
struct search {
	const struct layout *l;
	windows window;
};

static void search_windows(void *arg, size_t from, size_t end)
{
	const struct search *s = arg;

	for (struct window *w = &s->window.at[from];
	     w < &s->window.at[end]; w++) {
		struct pool run = {0};

		for (size_t i = w->from; i < w->end; i++)
			add_span(s->l, &s->l->m.map.span.at[i], &run, &w->best);
		best_add(&w->best, run);
	}
}

static void list_windows(const struct layout *l, windows *v)
{
	uint64_t stop = 0;

	for (size_t i = 0; i < l->m.map.span.n; i++) {
		const struct span *s = &l->m.map.span.at[i];
		struct window w = {.from = i};

		if (s->old >= stop) {
			vec_push(v, w);
			stop = s->old + WINDOW;
		}
		v->at[v->n - 1].end = i + 1;
	}
}

void old_pools_find(const struct layout *l, struct islands *islands)
{
	struct search s = {.l = l};

	if (!is_far(l))
		return;
	list_windows(l, &s.window);
	parallel_for(search_windows, &s, s.window.n, 2);
	for (size_t i = 0; i < s.window.n; i++)
		best_take(islands, &s.window.at[i].best);
	vec_free(&s.window);
}
