/*
 * calls_forks: open calls of threads that end, and of processes that are made;
 * and the routines of calls.S, which images have.
 */
#include "abi/routines.h"
#include "runtime/calls_int.h"

_Bool calls_in_code(const struct counting *c, uintptr_t pc)
{
	for (uint32_t i = 0; c->calls && i < c->image.n; i++) {
		const struct object_header *p = image_of(c, i)->object_header;

		if (image_of(c, i)->state != IMAGE_GONE && p->calls_size &&
		    pc - (uintptr_t)at_distance(p, p->calls) < p->calls_size)
			return 1;
	}
	return 0;
}

void calls_opened(struct counting *c, const struct object_header *p)
{
	c->calls |= p->calls_size && !(p->flags & OBJECT_HEADER_TRACES);
}

void calls_convert(const struct object_header *p)
{
	const struct routines_code *k = at_distance(p, p->calls);
	unsigned kind = (p->flags & OBJECT_HEADER_ABOVE) != 0;

	for (unsigned i = 0; i < CALLS_ROUTINES; i++)
		if (k->branch[kind][i])
			arch_ask_thread(at_distance(k, k->routine[kind][i]),
					k->branch[kind][i]);
}

void calls_thread_ends(struct counting *c, const struct running *x,
		       int64_t slot)
{
	struct caller t = {c, x->at, slot, 1};

	if (!c->calls || !x->at)
		return;
	for (struct call_entry *e = top_of(&t); e; e = top_of(&t)) {
		close_entry(&t, e);
		if (e->sp & ENTRY_SIGNAL)
			set_aside(&t, e);
	}
}

void calls_leave_block(struct counting *c, const struct running *x,
		       int64_t slot)
{
	struct caller t = {c, x->at, slot, 1};

	if (c->calls && x->at)
		lose_all(&t);
}

void calls_silence(const struct object_header *p)
{
	const struct routines_code *k = at_distance(p, p->calls);

	for (unsigned i = 0; p->calls_size && i < CALLS_ROUTINES; i++)
		arch_silence((char *)at_distance(k, k->routine[0][i]));
}

void calls_vfork(struct counting *c)
{
	struct caller t = caller_of(c, calls_page(c));
	struct call_entry *e = t.page ? top_of(&t) : NULL;

	if (e && e->active)
		record_at(&t, e->record)->flags |= RECORD_UNKNOWN;
}

/* an address of the forking thread's is that of the first one's */
static uint64_t in_child(const struct caller *t, uint64_t a)
{
	uint64_t word;
	const struct counted_image *m = image_with(t, a, &word);

	return m ? (uint64_t)(uintptr_t)m->counters + word * sizeof word : 0;
}

static uint64_t signal_of(const struct caller *t, const struct call_entry *e)
{
	const struct more_calls *x = at_address(t, e->head);

	return x[-1].site;
}

void calls_fork(struct counting *c, struct child *k)
{
	struct caller t = {c, calls_page(c), thread_slot(c), 1};
	struct call_entry *e = t.page ? top_of(&t) : NULL;
	uint64_t size = entry_size(c), base, n;

	k->calls = NULL;
	k->calls_lost = t.page && t.page[CALLS_LOST];
	if (!e)
		return;
	base = t.page[CALLS_BASE];
	n = (uint64_t)(uintptr_t)e + size - base;
	k->calls = sys_map(round_up(n, c->page));
	if (!k->calls)
		return;
	k->calls_size = n;
	__builtin_memcpy(k->calls, (void *)(uintptr_t)base, n);
	for (; e; set_top(&t, below(&t, e)), e = top_of(&t)) {
		struct call_entry *x =
			(void *)(k->calls + ((uint64_t)(uintptr_t)e - base));

		x->head = in_child(&t, e->head);
		x->active = in_child(&t, e->active);
		x->record = e->sp & ENTRY_SIGNAL ? signal_of(&t, e) : 0;
	}
	set_top(&t, base + n - size);
}

/* a call that the parent made, of which the child does the rest */
static void begin_in_child(const struct caller *t, struct call_entry *e)
{
	struct call_record *r;
	uint64_t *lanes;

	if (!e->head)
		e->head = signal_record(t, e->record);
	e->sp |= ENTRY_INHERITED;
	if (e->sp & ENTRY_SIGNAL) {
		t->page[CALLS_HANDLERS]++;
		lanes = lanes_below(t, e);
		for (unsigned i = 0; i < 3 * t->c->nevent + 1; i++)
			lanes[i] = 0;
	}
	e->record = e->head;
	for (unsigned i = 0; i < t->c->nevent; i++)
		e->begin[i] = count_of(t->page, i);
	record_at(t, e->head)->self = e->head;
	r = e->active ? find_record(t, e->head, e->active, 0) : NULL;
	if (!r)
		return;
	/* the outermost one comes last */
	*(uint64_t *)at_address(t, e->active) = (uint64_t)(uintptr_t)e;
	e->record = code_address(t, r);
	if (is_root(e))
		count_root(t, e, 1);
}

void calls_forked(struct counting *c, struct child *k)
{
	struct caller t = {c, c->running.at, 0, 1};
	uint64_t size = entry_size(c);
	struct call_entry *e;

	if (t.page && k->calls_lost)
		t.page[CALLS_LOST] = 2;
	if (!k->calls || !t.page)
		return;
	e = take_entries(&t, (uint32_t)(k->calls_size / size));
	if (e) {
		__builtin_memcpy((void *)(uintptr_t)t.page[CALLS_BASE],
				 k->calls, k->calls_size);
		for (; e; set_top(&t, below(&t, e)), e = top_of(&t))
			begin_in_child(&t, e);
		set_top(&t, t.page[CALLS_BASE] + k->calls_size - size);
	}
	sys_unmap(k->calls, round_up(k->calls_size, c->page));
	k->calls = NULL;
}
