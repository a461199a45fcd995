/*
 * running: counters that code of all objects adds to, a page for each thread
 * (abi/running.h). The page is a part of the profile. It is mapped once more
 * in every object, before that's own counters, where its code reaches it by a
 * distance; for a thread, as far from there as its slot says.
 *
 *	 object A             object B
 *	[page][counters]     [page][counters]
 *	    \\                 /
 *	     one page of the profile
 *
 * A thread begins with what the one before it has left in its block: a record
 * in the profile says how much that was.
 */
#include "runtime/counting.h"

enum {
	MAY_MOVE = 1, /* MREMAP_MAYMOVE, MREMAP_FIXED */
	TO_THERE = 2,
	RECORDS = 16384, /* bytes of records, in one chunk */
};

uint64_t running_size(const struct counting *c)
{
	return c->pages ? 2 * c->page : 0;
}

void running_chunk(const struct counting *c, const struct region *r,
		   uint64_t at, uint32_t process, uint32_t block,
		   struct running *x)
{
	struct chunk_running *k = (void *)(r->at + at);

	k->chunk.at = r->offset + at;
	k->chunk.size = running_size(c);
	k->chunk.kind = CHUNK_RUNNING;
	k->chunk.process = process;
	k->first = c->page;
	k->block = block;
	k->nevent = c->nevent;
	*x = (struct running){(void *)(r->at + at + c->page),
			      r->offset + at + c->page};
	x->at[RUNNING_SELF] = (uintptr_t)x->at;
}

void running_calm(const struct counting *c, const struct running *x)
{
	if (!c->traps)
		return;
	running_set_lanes(x->at, (uint64_t)RUNNING_FAR);
	x->at[RUNNING_QUIET] = 1;
}

void running_keep(const struct counting *c, const struct region *r, uint64_t at)
{
	struct profile_chunk *k = (void *)(r->at + at);

	chunk_done(k);
	sys_unmap(k, c->page);
}

_Bool running_take(struct counting *c, uint32_t block, struct running *x)
{
	struct region r;

	if (!c->number || !live_profile_take(c, running_size(c), &r))
		return 0;
	running_chunk(c, &r, 0, c->number, block, x);
	running_keep(c, &r, 0);
	return 1;
}

/* a page that is mapped is mapped there, too */
static _Bool map_again(struct counting *c, const struct running *x, char *to)
{
	struct region r;
	long at;

	/* emulators do not know this */
	if (!c->emulated) {
		at = arch_call(SYS_MREMAP, (long)x->at, 0, (long)c->page,
			       MAY_MOVE | TO_THERE, (long)to);
		if (at == (long)to)
			return 1;
	}
	if (!live_profile_map(c, x->offset, c->page, &r))
		return 0;
	if (sys_move(r.at, r.size, to))
		return 1;
	sys_unmap(r.at, r.size);
	return 0;
}

_Bool running_place(struct counting *c, const struct counted_image *m,
		    int64_t slot, const struct running *x)
{
	return !m->run || (x->at && map_again(c, x, image_piece(m, slot) -
							    m->run));
}

/* what was added before there was a page */
static void add_early(const struct running *x, const char *from)
{
	const uint64_t *v = (const void *)from;

	for (unsigned i = 0; i < RUNNING_WORDS; i++)
		x->at[i] += v[i];
}

void running_opened(struct counting *c, struct counted_image *m)
{
	if (!m->run)
		return;
	if (!c->running.at) {
		c->pages = 1;
		c->nevent = m->object_header->nevent;
		c->traps = m->object_header->flags & OBJECT_HEADER_TRAPS;
		c->traces = m->object_header->flags & OBJECT_HEADER_TRACES;
		c->addresses =
			m->object_header->flags & OBJECT_HEADER_ADDRESSES;
		c->waits = m->object_header->flags & OBJECT_HEADER_WAITS;
		if (c->traces)
			trace_begins(c);
		running_take(c, 0, &c->running);
		trace_thread_begins(c, &c->running, 0);
	}
	calls_opened(c, m->object_header);
	if (c->late && c->running.at && !c->traces)
		add_early(&c->running, m->counters - m->run);
	if (!running_place(c, m, 0, &c->running))
		live_profile_trouble(c, TROUBLE_NO_SPACE);
	trace_image(c, m);
}

void running_forget(struct counting *c)
{
	if (c->running.at)
		sys_unmap(c->running.at, c->page);
	c->running = (struct running){0};
	if (c->records)
		sys_unmap(c->records, round_up(RECORDS, c->page));
	c->records = NULL;
}

/* --- records of threads */

static uint64_t *record_values(struct thread_record *r)
{
	return (uint64_t *)(r + 1);
}

/* the counts of all events so far */
static void read_events(const struct counting *c, const struct running *x,
			uint64_t *to)
{
	for (unsigned e = 0; e < c->nevent; e++)
		to[e] = x->at ? running_counted(x->at, e) : 0;
}

/*
 * Code of a thread that begins traps when it first adds to them, if somebody
 * waits for threads, whoever has used the block before it.
 */
static void running_wake(const struct counting *c, const struct running *x)
{
	if (c->traps && x->at && c->running.at)
		running_set_lanes(x->at, c->running.at[RUNNING_QUIET] ?
						 (uint64_t)RUNNING_FAR : 0);
}

/* room for more of them */
static _Bool take_records(struct counting *c)
{
	uint64_t size = round_up(RECORDS, c->page);
	struct chunk_threads *k;
	struct region r;

	/* threads of the records before may not have ended: these stay */
	if (!live_profile_take(c, size, &r))
		return 0;
	k = (void *)r.at;
	chunk_head(&k->chunk, r.offset, size, CHUNK_THREADS, c->number);
	k->nevent = c->nevent;
	k->size = (uint32_t)(sizeof(struct thread_record) +
			     2 * c->nevent * sizeof(uint64_t));
	k->nrecord = (uint32_t)((size - sizeof *k) / k->size);
	chunk_done(&k->chunk);
	c->records = k;
	c->nrecord = 0;
	return 1;
}

struct thread_record *record_begins(struct counting *c, uint32_t block,
				    const struct running *x)
{
	struct chunk_threads *k = c->records;
	struct thread_record *r;

	if (!c->number ||
	    ((!k || c->nrecord == k->nrecord) && !take_records(c)))
		return NULL;
	k = c->records;
	r = (void *)((char *)(k + 1) + (uint64_t)c->nrecord++ * k->size);
	r->block = block;
	running_wake(c, x);
	client_thread_begins(x);
	read_events(c, x, record_values(r));
	if (x->at) {
		x->at[RUNNING_BEGAN] = (uintptr_t)record_values(r);
		x->at[RUNNING_BEFORE] = 0;
	}
	__atomic_store_n(&r->state, THREAD_BEGAN, __ATOMIC_RELEASE);
	return r;
}

void record_ends(const struct counting *c, struct thread_record *r,
		 const struct running *x)
{
	if (!r || r->state != THREAD_BEGAN)
		return;
	read_events(c, x, record_values(r) + c->nevent);
	__atomic_store_n(&r->state, THREAD_ENDED, __ATOMIC_RELEASE);
}
