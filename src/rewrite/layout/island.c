/*
 * island: steps for jumps that do not reach.
 *
 * A jump has limited reach; a large file's new code can be too far from its
 * old code, or from itself. An island is a jump that leaves all registers as
 * they are, so it may stand anywhere between. Islands lie in
 * pools between the parts of the new text. How many are needed is known only
 * once all addresses are, and room for them moves addresses: when a pool
 * overflows, its room is enlarged and everything placed again.
 *
 * Where the old text is so large that no step leads over it, calls and other
 * jumps to the start of a procedure still get there: by a longer jump in an
 * island, which loses a register that no procedure expects anything in.
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

bool island_needed(const struct rewriter *r, uint64_t from, uint64_t to)
{
	return !reaches(r, from, to);
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
		    (s->far || distance(s->addr, to) < distance(from, to)))
			return s->addr;
	}
	return 0;
}

static uint64_t next_free(const struct rewriter *r, const struct pool *p)
{
	return p->addr + (uint64_t)p->used * r->move->jump_size;
}

static bool has_room(const struct pool *p, unsigned n)
{
	return !p->old || p->used + n <= p->room;
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

		if (p != own && has_room(p, 1) && reaches(r, from, addr) &&
		    distance(addr, to) < best) {
			best = distance(addr, to);
			found = p;
		}
	}
	return found;
}

/* there are pools enough on the way */
static bool can_step(struct rewriter *r, uint64_t from, uint64_t to)
{
	const struct pool *own = NULL;

	while (!reaches(r, from, to)) {
		own = nearest_pool(r, from, to, own);
		if (!own)
			return false;
		from = next_free(r, own);
	}
	return true;
}

/* takes n jumps' room in a pool for an island, in no chain yet */
static struct island *new_island(struct rewriter *r, struct pool *p,
				 uint64_t to, unsigned n)
{
	struct island s = {.addr = next_free(r, p), .to = to,
			   .chain = *bucket_of(r, to)};

	p->used += n;
	vec_push(&r->island, s);
	*bucket_of(r, to) = (uint32_t)r->island.n;
	return &r->island.at[r->island.n - 1];
}

/* island_step() of a jump in the pool `own`, or in none; there is a way */
static uint64_t step(struct rewriter *r, uint64_t from, uint64_t to,
		     const struct pool *own)
{
	struct pool *p;
	uint64_t at, next;
	size_t mine;

	if (reaches(r, from, to))
		return to;
	at = find_island(r, from, to);
	if (at)
		return at;
	p = nearest_pool(r, from, to, own);
	at = new_island(r, p, to, 1)->addr;
	mine = r->island.n;
	next = step(r, at, to, p);
	r->island.at[mine - 1].next = next;
	return at;
}

uint64_t island_step(struct rewriter *r, uint64_t from, uint64_t to)
{
	return can_step(r, from, to) ? step(r, from, to, NULL) : 0;
}

/* any pool within reach with room for n jumps, or NULL */
static struct pool *pool_near(struct rewriter *r, uint64_t from, unsigned n)
{
	for (size_t i = 0; i < r->pool.n; i++)
		if (has_room(&r->pool.at[i], n) &&
		    reaches(r, from, next_free(r, &r->pool.at[i])))
			return &r->pool.at[i];
	return NULL;
}

uint64_t island_step_to_start(struct rewriter *r, uint64_t from, uint64_t to)
{
	uint64_t at = island_step(r, from, to);
	unsigned n = r->move->far_size / r->move->jump_size;
	struct island *s;
	struct pool *p;

	if (!at)
		at = find_island(r, from, to);
	if (at || !n)
		return at;
	p = pool_near(r, from, n);
	if (!p)
		return 0;
	s = new_island(r, p, to, n);
	s->far = true;
	s->next = to;
	return s->addr;
}

bool island_overflow(struct rewriter *r)
{
	bool any = false;

	for (size_t i = 0; i < r->pool.n; i++) {
		struct pool *p = &r->pool.at[i];

		if (!p->old && p->used > p->room) {
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
		uint8_t *out = s->addr < r->text_addr
				       ? text_old_bytes(r, s->addr)
				       : r->text + (s->addr - r->text_addr);

		if (!(s->far ? r->move->far_jump : r->move->jump)(
			    s->addr, s->next, out))
			return false;
	}
	return true;
}
