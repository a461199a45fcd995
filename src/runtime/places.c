/*
 * places: where a thread is, as far as objects that count are concerned, and a
 * note of it in the profile if it ends there.
 *
 * The reader of the profile has the rewritten files, and finds out what a place
 * in one means (count/profile/thread_exits.h). So what is noted is simple: an
 * address, and where callers go on. A thread in code of ours was called from an
 * object: from a hook, to which it would have returned.
 *
 * All memory is read by c->peek(): this is a part of the code that travels in
 * the program, and of tally, which looks at a process that is being killed
 * (launch/watch.c).
 */
#include "runtime/counting.h"

enum { OWN_FRAMES = 64 }; /* of our code, one above the other, at most */

/*
 * Callers of a thread: its link register, then frame records. On machines
 * without these no caller is known, nor needed: calls are no edges there.
 */
struct callers {
	const struct counting *c;
	uintptr_t link; /* 0: it was the last one */
	const struct frame *record; /* the next one */
	const struct frame *last;   /* of which the last one is */
};

/* --- objects */

/* is the address in the object's code? */
static _Bool is_inside(const struct counted_image *m, uintptr_t at)
{
	return m->state != IMAGE_GONE && at >= m->base + m->low &&
	       at < (uintptr_t)m->counters;
}

/* is the address in code that was written while the object ran? */
static _Bool is_in_room(const struct counted_image *m, uintptr_t at)
{
	return m->state != IMAGE_GONE && at >= m->room &&
	       at - m->room < (uintptr_t)m->nsite * ARCH_THREAD_ROOM;
}

/* the place of the file that such code stands for, 0: it cannot be read */
static uintptr_t out_of_room(const struct counting *c,
			     const struct counted_image *m, uintptr_t at)
{
	uint32_t i = arch_in_room(at - m->room);
	uintptr_t list = (uintptr_t)m->object_header + (uintptr_t)m->site;
	uintptr_t word = list + i * sizeof(int32_t);
	int32_t two[2];

	/* words are read, of two distances each */
	if (!c->peek(c, (const void *)(word & -sizeof two), two, sizeof two))
		return 0;
	return list + (uintptr_t)(intptr_t)two[word / sizeof *two % 2];
}

/* the object in whose code the address is, NULL: none; *at as in its file */
static const struct counted_image *find_image(const struct counting *c,
					      uintptr_t *at)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (is_in_room(m, *at))
			*at = out_of_room(c, m, *at);
		if (is_inside(m, *at))
			return m;
	}
	return NULL;
}

static _Bool is_own(const struct counting *c, uintptr_t at)
{
	return at >= c->own_code && at < c->own_code_end;
}

/* --- callers */

static struct callers callers_of(const struct counting *c, const void *context)
{
	return (struct callers){
		.c = c,
		.link = arch_plain(arch_link(context)),
		.record = (const void *)arch_frame(context),
	};
}

/* where the next caller goes on, 0: no more are known */
static uintptr_t next_caller(struct callers *k)
{
	uintptr_t back = k->link;
	struct frame f;

	k->link = 0;
	k->last = NULL;
	if (back)
		return back;
	if (!ARCH_FRAME_RECORDS || (uintptr_t)k->record % sizeof f.back ||
	    !k->c->peek(k->c, k->record, &f, sizeof f))
		return 0;
	k->last = k->record;
	k->record = f.next > k->record ? f.next : NULL;
	return arch_plain(f.back);
}

static void note_callers(const struct counted_image *m, struct callers *k,
			 uint64_t *back)
{
	for (unsigned i = 0; i < END_BACKS; i++) {
		uintptr_t at = next_caller(k);

		if (!at)
			break;
		back[i] = is_inside(m, at) ? at - m->base : END_ELSEWHERE;
	}
}

/* --- handlers */

const struct interruption *handler_find(const struct counting *c,
					uintptr_t thread,
					const struct frame *record)
{
	for (unsigned i = 0; i < INTERRUPTIONS; i++)
		if (c->interruption[i].thread == thread &&
		    c->interruption[i].record == record)
			return &c->interruption[i];
	return NULL;
}

_Bool handler_is_intact(const struct counting *c, const struct interruption *x,
			unsigned long context[ARCH_UC_WORDS])
{
	struct frame f;
	uintptr_t pc;

	if (!c->peek(c, x->record, &f, sizeof f) || f.next != x->was.next ||
	    f.back != x->was.back ||
	    !c->peek(c, x->context, context, ARCH_UC_WORDS * sizeof *context))
		return 0;
	pc = arch_pc(context);
	if (x->shown && pc == x->shown)
		arch_set_pc(context, x->pc);
	else if (pc != x->pc)
		return 0;
	return 1;
}

/* --- notes */

/* are both ends at one place? How often does not matter */
static _Bool same_end(const struct process_end *a, const struct process_end *b)
{
	_Bool same = a->address == b->address &&
		     a->counters == b->counters && a->called == b->called &&
		     id_equal(a->id, b->id);

	for (unsigned i = 0; i < END_BACKS; i++)
		same &= a->back[i] == b->back[i];
	return same;
}

/* notes an end, with those that were the same */
static void add_end(struct chunk_process *k, const struct process_end *e)
{
	struct process_end *x = k->end;
	uint32_t i;

	for (; x < k->end + PROCESS_ENDS; x++)
		if (__atomic_load_n(&x->count, __ATOMIC_ACQUIRE) &&
		    same_end(x, e)) {
			__atomic_fetch_add(&x->count, 1, __ATOMIC_RELAXED);
			return;
		}
	i = __atomic_fetch_add(&k->nend, 1, __ATOMIC_RELAXED);
	if (i >= PROCESS_ENDS) {
		k->nend = PROCESS_ENDS;
		note_begins(k); /* and never ends */
		return;
	}
	x = &k->end[i];
	__builtin_memcpy(x->id, e->id, sizeof x->id);
	__builtin_memcpy(x->back, e->back, sizeof x->back);
	x->address = e->address;
	x->counters = e->counters;
	x->called = e->called;
	__atomic_store_n(&x->count, 1, __ATOMIC_RELEASE);
}

/*
 * Where our code goes back to: the first address that is not ours. 0: there is
 * none that we know, or (*handled) it was the kernel that called.
 */
static uintptr_t leave_own(const struct counting *c, uintptr_t thread,
			   struct callers *k, _Bool *handled)
{
	for (unsigned i = 0; i < OWN_FRAMES; i++) {
		uintptr_t at = next_caller(k);
		const struct interruption *x =
			k->last ? handler_find(c, thread, k->last) : NULL;
		unsigned long context[ARCH_UC_WORDS];

		*handled = x && handler_is_intact(c, x, context);
		if (!at || *handled)
			return 0;
		/*
		 * The link register of a handler that has made no call is what
		 * the kernel set: it leads to no object.
		 */
		if (!is_own(c, at) && (k->last || find_image(c, &at)))
			return at;
	}
	return 0;
}

void place_note(const struct counting *c, uintptr_t thread,
		const void *context, _Bool frames)
{
	uintptr_t at = arch_pc(context);
	struct callers k = callers_of(c, context);
	struct process_end e = {.count = 1, .called = is_own(c, at)};
	const struct counted_image *m;
	_Bool handled = 0;

	/* a client's call has left its block */
	if (!c->process || (at >= c->client_code && at < c->client_code_end))
		return;
	if (e.called)
		at = leave_own(c, thread, &k, &handled);
	m = at ? find_image(c, &at) : NULL;
	if (!m) {
		/* a handler that is beginning: its interruption is noted */
		if (e.called && !handled)
			note_begins(c->process);
		return;
	}
	__builtin_memcpy(e.id, m->id, sizeof e.id);
	e.address = at - m->base;
	e.counters = (uintptr_t)m->counters - m->base;
	if (frames)
		note_callers(m, &k, e.back);
	else
		e.back[0] = END_ELSEWHERE;
	add_end(c->process, &e);
}
