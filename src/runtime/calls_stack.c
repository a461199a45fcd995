/*
 * calls_stack: the stack of a thread's open calls, in a chunk of the profile.
 * It grows by taking a larger one.
 */
#include "runtime/calls_int.h"

enum {
	STACK_FIRST = 65536, /* bytes of a thread's first stack */
	STACK_GROWTH = 8,
	STACK_MOST = 1 << 29,
	RESERVE = 128, /* entries that are for handlers: no stack grows then,
			  as what they interrupted knows where it is */
};

/* entries move, and callees say which of them is theirs */
static void move_entries(const struct caller *t, uint64_t from, uint64_t to)
{
	for (struct call_entry *e = top_of(t); e;
	     set_top(t, below(t, e)), e = top_of(t)) {
		uint64_t *active = e->active ? at_address(t, e->active) : NULL;

		if (active && *active == (uint64_t)(uintptr_t)e)
			*active += to - from;
	}
}

/* a larger stack takes over; false: there is no room */
static _Bool grow(const struct caller *t, uint32_t block)
{
	struct counting *c = t->c;
	uint64_t base = t->page[CALLS_BASE], top = t->page[CALLS_TOP];
	uint64_t used = base ? top + entry_size(c) - base : 0;
	uint64_t size = base ? (t->page[CALLS_LIMIT] - base) * STACK_GROWTH :
			       STACK_FIRST;
	struct chunk_stack *k, *old;
	struct region r;

	size = round_up(size, c->page) + c->page;
	if (!c->number || c->confined || size > STACK_MOST ||
	    !live_profile_take(c, size, &r))
		return 0;
	k = (void *)r.at;
	chunk_head(&k->chunk, r.offset, size, CHUNK_STACK, c->number);
	k->first = c->page;
	k->address = (uint64_t)(uintptr_t)r.at + c->page;
	k->block = block;
	k->nevent = c->nevent;
	__builtin_memcpy(r.at + c->page, (void *)(uintptr_t)base, used);
	if (base) {
		move_entries(t, base, k->address);
		old = (void *)(uintptr_t)(base - c->page);
		old->address = 0;
	}
	chunk_done(&k->chunk);
	t->page[CALLS_BASE] = k->address;
	set_top(t, k->address + used - entry_size(c));
	t->page[CALLS_LIMIT] = k->address + size - c->page -
			       (RESERVE + 1) * entry_size(c);
	return 1;
}

static _Bool make_room(const struct caller *t, uint64_t size)
{
	_Bool good = 1;

	while (good && (!t->page[CALLS_BASE] ||
			t->page[CALLS_TOP] + size > t->page[CALLS_LIMIT])) {
		lock(t);
		good = grow(t, thread_block_number(t->c, t->slot));
		unlock(t);
	}
	return good;
}

struct call_entry *take_entries(const struct caller *t, uint32_t n)
{
	uint64_t size = entry_size(t->c) * n, limit = t->page[CALLS_LIMIT];
	_Bool good = 1;

	if (t->page[CALLS_HANDLERS]) {
		limit += RESERVE * entry_size(t->c);
		good = t->page[CALLS_TOP] + size <= limit;
	} else {
		good = make_room(t, size);
	}
	if (!good)
		return NULL;
	set_top(t, t->page[CALLS_TOP] + size);
	return (void *)(uintptr_t)t->page[CALLS_TOP];
}
