/*
 * old_pool: room for islands in old text.
 *
 * Old text can be so large that a jump from its start does not reach the new
 * code behind its end, nor an island there. Where code moved, the old text
 * has room: slots at which nobody arrives. In a file that needs it, some of
 * the longest runs of such slots are given up for islands; who arrives there
 * against all expectation is lost. All others stay what they are.
 */
#include "rewrite/rewrite_int.h"

enum {
	WINDOW = 32 << 20, /* bytes of old text that get pools of their own */
	PER_WINDOW = 4,
	SHORTEST = 16, /* slots */
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

static void best_take(struct rewriter *r, struct best *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->at[i].room >= SHORTEST)
			vec_push(&r->pool, b->at[i]);
	b->n = 0;
}

/* adds the span's runs; one that begins with it may go on from the last */
static void add_span(struct rewriter *r, const struct span *s,
		     struct pool *run, struct best *b)
{
	unsigned size = r->move->jump_size;

	for (uint32_t i = 0; i < s->size; i += size) {
		uint64_t at = s->old + i;
		bool free = slots_is_free(r, at);
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

void old_pools_find(struct rewriter *r)
{
	uint64_t window = 0;
	struct pool run = {0};
	struct best best = {.n = 0};

	for (size_t i = 0; is_far(r) && i < r->m.map.span.n; i++) {
		const struct span *s = &r->m.map.span.at[i];

		if (s->old >= window) {
			best_add(&best, run);
			best_take(r, &best);
			run = (struct pool){0};
			window = s->old + WINDOW;
		}
		add_span(r, s, &run, &best);
	}
	best_add(&best, run);
	best_take(r, &best);
}
