/*
 * island: steps for jumps that do not reach.
 *
 * A jump has limited reach; a large file's new code can be too far from its
 * old code, or from itself. An island is a jump that leaves all registers as
 * they are, so it may stand anywhere between (rewriting.md 4). Islands lie in
 * pools between the parts of the new text. How many are needed is known only
 * once all addresses are, and room for them moves addresses: when a pool
 * overflows, its room is enlarged and everything placed again.
 */
#include "rewrite/rewrite_int.h"

/* long forms jump from behind their start, by less than this */
enum { MARGIN = 64 };

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static bool reaches(const struct rewriter *r, uint64_t from, uint64_t to)
{
	return distance(from, to) < r->move->jump_reach - MARGIN;
}

static uint32_t *bucket_of(struct rewriter *r, uint64_t to)
{
	return &r->island_bucket[(to * UINT64_C(0x9e3779b97f4a7c15)) >>
				 (64 - ISLAND_BUCKET_BITS)];
}

/* an island that leads to `to`, can be reached, and is nearer; or 0 */
static uint64_t find_island(struct rewriter *r, uint64_t from, uint64_t to)
{
	for (uint32_t i = *bucket_of(r, to); i; i = r->island.at[i - 1].chain) {
		const struct island *s = &r->island.at[i - 1];

		if (s->to == to && reaches(r, from, s->addr) &&
		    distance(s->addr, to) < distance(from, to))
			return s->addr;
	}
	return 0;
}

static uint64_t next_free(const struct rewriter *r, const struct pool *p)
{
	return p->addr + (uint64_t)p->used * r->move->jump_size;
}

/*
 * The pool that brings a jump nearest to where it wants to go, or NULL; not
 * `own`, in which the jump itself is: a chain that creeps through one pool
 * would never end where no other is in reach.
 */
static struct pool *nearest_pool(struct rewriter *r, uint64_t from,
				 uint64_t to, const struct pool *own)
{
	uint64_t best = distance(from, to);
	struct pool *found = NULL;

	for (size_t i = 0; i < r->pool.n; i++) {
		struct pool *p = &r->pool.at[i];
		uint64_t addr = next_free(r, p);

		if (p != own && reaches(r, from, addr) &&
		    distance(addr, to) < best) {
			best = distance(addr, to);
			found = p;
		}
	}
	return found;
}

/* island_step() of a jump in the pool `own`, or in none */
static uint64_t step(struct rewriter *r, uint64_t from, uint64_t to,
		     const struct pool *own)
{
	struct island s = {.to = to};
	struct pool *p;
	uint64_t next;
	size_t mine;

	if (reaches(r, from, to))
		return to;
	s.addr = find_island(r, from, to);
	if (s.addr)
		return s.addr;
	p = nearest_pool(r, from, to, own);
	if (!p)
		return 0;
	s.addr = next_free(r, p);
	p->used++;
	s.chain = *bucket_of(r, to);
	vec_push(&r->island, s);
	mine = r->island.n;
	*bucket_of(r, to) = (uint32_t)mine;
	next = step(r, s.addr, to, p);
	r->island.at[mine - 1].next = next;
	return next ? s.addr : 0;
}

uint64_t island_step(struct rewriter *r, uint64_t from, uint64_t to)
{
	return step(r, from, to, NULL);
}

bool island_overflow(struct rewriter *r)
{
	bool any = false;

	for (size_t i = 0; i < r->pool.n; i++) {
		struct pool *p = &r->pool.at[i];

		if (p->used > p->room) {
			p->room = p->used + p->used / 8 + 8;
			any = true;
		}
	}
	return any;
}

void island_forget(struct rewriter *r)
{
	r->island.n = 0;
	memset(r->island_bucket, 0, sizeof r->island_bucket);
	for (size_t i = 0; i < r->pool.n; i++)
		r->pool.at[i].used = 0;
}

bool island_write(struct rewriter *r)
{
	for (size_t i = 0; i < r->island.n; i++) {
		const struct island *s = &r->island.at[i];

		if (!r->move->jump(s->addr, s->next,
				   r->text + (s->addr - r->text_addr)))
			return false;
	}
	return true;
}
