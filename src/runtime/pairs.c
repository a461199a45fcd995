/*
 * pairs: how often every indirect jump and call led where. Gates before them
 * tell (isa/move.h), in whatever thread or signal handler, and never wait.
 *
 * Pairs of a site and a target lie in a table in the profile's file. A free
 * place is taken by one atomic step, then filled, then shown. Code that meets
 * one that is being filled goes on to the next: it may be a handler that has
 * interrupted the code that fills it. So a pair may get two places, which
 * readers add up. If there is no place near where it belongs, a table four
 * times as large takes over, and the old one stays as it is.
 *
 * A target is known by its object and the address there. Objects are found by
 * a guess from the target's page that proves right or wrong. Targets in what
 * is not counted (the loader, the vdso, code made at run time) are all one.
 */
#include "runtime/counting.h"

enum {
	FIRST_SIZE = 16384, /* bytes of a process's first table */
	LARGEST = 1 << 30,
	GROWTH = 4,
	PROBES = 16,
	PAGE = 4096,
};

struct pair_table {
	struct pair_table *older;
	struct region chunk;
	struct pair *at;
	uint64_t n;
};

/* where an object is; nothing but `gone` ever changes */
struct home {
	uintptr_t low, high, base;
	uint64_t image;
	_Bool gone;
};

/* the first half of an object's identity */
static uint64_t half_id(const struct object_header *p)
{
	uint64_t half;

	__builtin_memcpy(&half, p->id, sizeof half);
	return half;
}

static struct home **home_of(const struct counting *c, uint32_t i)
{
	struct home **all = __atomic_load_n(&c->home.at, __ATOMIC_ACQUIRE);

	return all + i;
}

void pairs_opened(struct counting *c, uint32_t i, const struct object_header *p)
{
	uintptr_t base = (uintptr_t)p - p->here;
	struct home *h;

	if (!list_reach(c, &c->home, i, sizeof h))
		return;
	h = *home_of(c, i);
	if (!h || h->base != base) {
		h = room_take(c, sizeof *h);
		if (!h)
			return;
		*h = (struct home){base + p->low, base + p->high, base,
				   half_id(p), 0};
		__atomic_store_n(home_of(c, i), h, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&h->gone, 0, __ATOMIC_RELAXED);
	if (i >= c->home.n)
		__atomic_store_n(&c->home.n, i + 1, __ATOMIC_RELEASE);
}

void pairs_gone(struct counting *c, uint32_t i)
{
	if (i < c->home.n && *home_of(c, i))
		__atomic_store_n(&(*home_of(c, i))->gone, 1, __ATOMIC_RELAXED);
}

/* image number i if the address is in it, or NULL */
static const struct home *home_if(const struct counting *c, uint32_t i,
				  uintptr_t at)
{
	const struct home *h = __atomic_load_n(home_of(c, i),
					       __ATOMIC_ACQUIRE);

	return h && at >= h->low && at < h->high &&
	       !__atomic_load_n(&h->gone, __ATOMIC_RELAXED) ? h : NULL;
}

/* the object that the address is in, or NULL */
static const struct home *find_home(struct counting *c, uintptr_t at)
{
	uint16_t *near = &c->near[at / PAGE % NEAR];
	uint32_t n = __atomic_load_n(&c->home.n, __ATOMIC_ACQUIRE);
	uint32_t guess = __atomic_load_n(near, __ATOMIC_RELAXED);
	const struct home *h = NULL;

	/* one that another thread made may be too new for this one */
	if (guess && guess <= n)
		h = home_if(c, guess - 1, at);
	for (uint32_t i = 0; !h && i < n; i++) {
		h = home_if(c, i, at);
		if (h && i < UINT16_MAX)
			__atomic_store_n(near, (uint16_t)(i + 1),
					 __ATOMIC_RELAXED);
	}
	return h;
}

static _Bool is_same(const struct pair *a, const struct pair *b)
{
	return a->to == b->to && a->site == b->site && a->image == b->image &&
	       a->to_image == b->to_image;
}

static _Bool take(struct pair *at, const struct pair *x)
{
	uint32_t was = PAIR_FREE;

	if (!__atomic_compare_exchange_n(&at->state, &was, PAIR_TAKEN, 0,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	at->site = x->site;
	at->image = x->image;
	at->to_image = x->to_image;
	at->to = x->to;
	__atomic_store_n(&at->state, PAIR_READY, __ATOMIC_RELEASE);
	return 1;
}

/* adds one to the pair; false if there is no place for it */
static _Bool add(const struct pair_table *t, const struct pair *x)
{
	uint64_t h = (x->site ^ x->image) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t i;

	h = (h ^ x->to ^ x->to_image) * UINT64_C(0x9e3779b97f4a7c15);
	i = (h >> 32) * t->n >> 32;
	for (unsigned n = 0; n < PROBES; n++) {
		struct pair *at = &t->at[i];
		uint32_t state = __atomic_load_n(&at->state,
						 __ATOMIC_ACQUIRE);

		if (state == PAIR_FREE ? take(at, x) :
		    state == PAIR_READY && is_same(at, x)) {
			__atomic_fetch_add(&at->count, 1, __ATOMIC_RELAXED);
			return 1;
		}
		i = i + 1 < t->n ? i + 1 : 0;
	}
	return 0;
}

static struct pair_table *make(struct counting *c, struct pair_table *older)
{
	uint64_t size = older ? older->chunk.size * GROWTH :
				round_up(FIRST_SIZE, c->page);
	struct pair_table *t = room_take(c, sizeof *t);
	struct chunk_pairs *k;

	if (!t || !c->number || size > LARGEST ||
	    !live_profile_take(c, size, &t->chunk))
		return NULL;
	k = (void *)t->chunk.at;
	t->older = older;
	t->at = (struct pair *)(k + 1);
	t->n = (size - sizeof *k) / sizeof *t->at;
	k->npair = t->n;
	chunk_head(&k->chunk, t->chunk.offset, size, CHUNK_PAIRS, c->number);
	chunk_done(&k->chunk);
	return t;
}

/* what finds no place from now on is not counted */
static void lose(struct counting *c)
{
	c->pairs_lost = 1;
	live_profile_trouble(c, TROUBLE_PAIRS);
}

/* the table that takes over from `full`, or NULL */
static struct pair_table *grow(struct counting *c, struct pair_table *full)
{
	struct pair_table *t;

	/* from then on no system call is allowed, not even to wait */
	if (c->confined)
		lose(c);
	if (c->pairs_lost)
		return NULL;
	counting_lock(c);
	t = c->pairs;
	if (t == full) {
		t = make(c, full);
		if (t)
			__atomic_store_n(&c->pairs, t, __ATOMIC_RELEASE);
		else
			lose(c);
	}
	counting_unlock(c);
	return t;
}

void pairs_on_indirect(const struct arch_jump *j, const struct launch_env *h,
		       const struct object_header *p)
{
	struct counting *c = h->counting;
	uintptr_t to = arch_jump_target(j);
	struct pair x = {.site = arch_jump_what(j) >> ARCH_JUMP_REG,
			 .image = half_id(p)};
	const struct home *home;
	struct pair_table *t;

	if (!c)
		return;
	home = find_home(c, to);
	if (home) {
		x.to_image = home->image;
		x.to = to - home->base;
	}
	t = __atomic_load_n(&c->pairs, __ATOMIC_ACQUIRE);
	while (!t || !add(t, &x)) {
		t = grow(c, t);
		if (!t)
			return;
	}
}

void pairs_forget(struct counting *c)
{
	for (const struct pair_table *t = c->pairs; t; t = t->older)
		sys_unmap(t->chunk.at, t->chunk.size);
	c->pairs = NULL;
	c->pairs_lost = 0;
}
