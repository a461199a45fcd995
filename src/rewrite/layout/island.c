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

static bool reaches(const struct islands *s, uint64_t from, uint64_t to)
{
	return distance(from, to) < s->move->jump_reach - MARGIN;
}

bool island_needed(const struct islands *s, uint64_t from, uint64_t to)
{
	return !reaches(s, from, to);
}

static uint32_t *bucket_of(struct islands *s, uint64_t to)
{
	return &s->bucket[(to * UINT64_C(0x9e3779b97f4a7c15)) >>
			  (64 - ISLAND_BUCKET_BITS)];
}

/* an island that leads to `to`, can be reached, and is nearer; or 0 */
static uint64_t find_island(struct islands *s, uint64_t from, uint64_t to)
{
	for (uint32_t i = *bucket_of(s, to); i; i = s->island.at[i - 1].chain) {
		const struct island *x = &s->island.at[i - 1];

		if (x->to == to && reaches(s, from, x->addr) &&
		    (x->far || distance(x->addr, to) < distance(from, to)))
			return x->addr;
	}
	return 0;
}

static uint64_t next_free(const struct islands *s, const struct pool *p)
{
	return p->addr + (uint64_t)p->used * s->move->jump_size;
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
static struct pool *nearest_pool(struct islands *s, uint64_t from, uint64_t to,
				 const struct pool *own)
{
	uint64_t best = distance(from, to);
	struct pool *found = NULL;

	for (size_t i = 0; i < s->pool.n; i++) {
		struct pool *p = &s->pool.at[i];
		uint64_t addr = next_free(s, p);

		if (p != own && has_room(p, 1) && reaches(s, from, addr) &&
		    distance(addr, to) < best) {
			best = distance(addr, to);
			found = p;
		}
	}
	return found;
}

/* there are pools enough on the way */
static bool can_step(struct islands *s, uint64_t from, uint64_t to)
{
	const struct pool *own = NULL;

	while (!reaches(s, from, to)) {
		own = nearest_pool(s, from, to, own);
		if (!own)
			return false;
		from = next_free(s, own);
	}
	return true;
}

/* takes n jumps' room in a pool for an island, in no chain yet */
static struct island *new_island(struct islands *s, struct pool *p, uint64_t to,
				 unsigned n)
{
	struct island x = {
		.addr = next_free(s, p), .to = to, .chain = *bucket_of(s, to)};

	p->used += n;
	vec_push(&s->island, x);
	*bucket_of(s, to) = (uint32_t)s->island.n;
	return &s->island.at[s->island.n - 1];
}

/* island_step() of a jump in the pool `own`, or in none; there is a way */
static uint64_t step(struct islands *s, uint64_t from, uint64_t to,
		     const struct pool *own)
{
	struct pool *p;
	uint64_t at, next;
	size_t mine;

	if (reaches(s, from, to))
		return to;
	at = find_island(s, from, to);
	if (at)
		return at;
	p = nearest_pool(s, from, to, own);
	at = new_island(s, p, to, 1)->addr;
	mine = s->island.n;
	next = step(s, at, to, p);
	s->island.at[mine - 1].next = next;
	return at;
}

uint64_t island_step(struct islands *s, uint64_t from, uint64_t to)
{
	return can_step(s, from, to) ? step(s, from, to, NULL) : 0;
}

/* any pool within reach with room for n jumps, or NULL */
static struct pool *pool_near(struct islands *s, uint64_t from, unsigned n)
{
	for (size_t i = 0; i < s->pool.n; i++)
		if (has_room(&s->pool.at[i], n) &&
		    reaches(s, from, next_free(s, &s->pool.at[i])))
			return &s->pool.at[i];
	return NULL;
}

uint64_t island_step_to_start(struct islands *s, uint64_t from, uint64_t to)
{
	uint64_t at = island_step(s, from, to);
	unsigned n = s->move->far_size / s->move->jump_size;
	struct island *x;
	struct pool *p;

	if (!at)
		at = find_island(s, from, to);
	if (at || !n)
		return at;
	p = pool_near(s, from, n);
	if (!p)
		return 0;
	x = new_island(s, p, to, n);
	x->far = true;
	x->next = to;
	return x->addr;
}

bool island_overflow(struct islands *s)
{
	bool any = false;

	for (size_t i = 0; i < s->pool.n; i++) {
		struct pool *p = &s->pool.at[i];

		if (!p->old && p->used > p->room) {
			p->room = p->used + p->used / 8 + 8;
			any = true;
		}
	}
	return any;
}

void island_forget(struct islands *s)
{
	s->island.n = 0;
	memset(s->bucket, 0, sizeof s->bucket);
	for (size_t i = 0; i < s->pool.n; i++)
		s->pool.at[i].used = 0;
}
