/*
 * signal_context: the addresses that handlers of signals see.
 *
 * Some runtimes look up where a signal interrupted their code, in tables that
 * know old addresses (cfg/discover/pinned.c). Their handlers are shown the old
 * address that stands for the new one; if they leave it, the new one is put
 * back when they return, else the thread goes on where they say.
 *
 * Go's scheduler makes the thread call a function then, as if the interrupted
 * code had, which returns to the old address: to any instruction. So a thread
 * is only shown between two instructions of the program's: what is inserted
 * before the next one is done first, what stands for one and has begun is
 * undone. On the way back a hook leads to the new code (context_resume()).
 * Anywhere else (in hooks) the handler sees what there is, an address that its
 * tables do not know, as if C were called.
 */
#include "runtime/counting.h"

ARCH_CONTEXT_RESUME;

enum { STEPS = 64 }; /* of inserted code, at most */

/* --- suspended: where threads were interrupted by a scheduler of the program's
   (Go's), which lets some thread go on there later. What is still suspended
   when the process ends has ended there (exits.c). */

/* one that is as `like`, or is free; NULL: there is none */
static struct suspended *place_for(struct counting *c, struct suspended like)
{
	struct suspended *unused = NULL;

	for (unsigned i = 0; i < SUSPENDED; i++) {
		struct suspended *s = &c->suspended[i];

		if (s->n && s->at == like.at && s->to == like.to)
			return s;
		if (!s->n && !unused)
			unused = s;
	}
	return unused;
}

void suspended_add(struct counting *c, uintptr_t at, uintptr_t to)
{
	struct suspended like = {.at = at, .to = to}, *s;

	counting_lock(c);
	s = place_for(c, like);
	if (s) {
		like.n = s->n + 1;
		*s = like;
	} else {
		note_begins(c->process); /* and never ends */
	}
	counting_unlock(c);
}

void suspended_remove(struct counting *c, uintptr_t to)
{
	counting_lock(c);
	for (unsigned i = 0; i < SUSPENDED; i++)
		if (c->suspended[i].n && c->suspended[i].to == to) {
			c->suspended[i].n--;
			break;
		}
	counting_unlock(c);
}

void suspended_end(struct counting *c)
{
	unsigned long context[ARCH_UC_WORDS] = {0};

	for (unsigned i = 0; i < SUSPENDED; i++) {
		arch_set_pc(context, c->suspended[i].at);
		for (; c->suspended[i].n; c->suspended[i].n--)
			place_note(c, thread_self(c), context, 0);
	}
}

void suspended_forget(struct counting *c)
{
	for (unsigned i = 0; i < SUSPENDED; i++)
		c->suspended[i].n = 0;
}

/* --- the addresses */

static const struct back_entry *table(const struct counted_image *m)
{
	return (const void *)((const char *)m->object_header +
			      m->object_header->back);
}

/* the entry for a new address, or NULL */
static const struct back_entry *entry_at(const struct counted_image *m,
					 uintptr_t pc)
{
	const struct back_entry *v = table(m);
	uint64_t at = pc - m->base - m->object_header->back_base;
	uint32_t low = 0, high = m->object_header->nback;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v[middle].new <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && v[low - 1].old != BACK_NONE ? &v[low - 1] : NULL;
}

/* where its new code begins */
static uintptr_t entry_new(const struct counted_image *m,
			   const struct back_entry *x)
{
	return m->base + m->object_header->back_base + x->new;
}

static uintptr_t entry_old(const struct counted_image *m,
			   const struct back_entry *x)
{
	return m->base + m->object_header->low +
	       (x->old & ~(BACK_RUN | BACK_CODE));
}

/* the old address of a new one, which is in that entry */
static uintptr_t old_address(const struct counted_image *m,
			     const struct back_entry *x, uintptr_t pc)
{
	return entry_old(m, x) + (x->old & BACK_RUN ? pc - entry_new(m, x) : 0);
}

/* is the instruction at that old address in entry i? */
static _Bool has_old(const struct counted_image *m, uint32_t i, uintptr_t old)
{
	const struct back_entry *x = table(m) + i;
	uintptr_t at = old - entry_old(m, x);

	if (x->old == BACK_NONE || !(x->old & BACK_CODE))
		return 0;
	return x->old & BACK_RUN ? i + 1 < m->object_header->nback &&
					   at < x[1].new - x->new
				 : !at;
}

/*
 * The entry with the instruction at an old address, or nback. Old addresses
 * grow with new ones, but for inserted code and some stubs: what is found so is
 * looked at, and if it is another, all are.
 */
static uint32_t entry_with(const struct counted_image *m, uintptr_t old)
{
	const struct back_entry *v = table(m);
	uint32_t low = 0, high = m->object_header->nback, i;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		for (i = middle; i > low && !(v[i].old & BACK_CODE); i--)
			;
		if (!(v[i].old & BACK_CODE) || entry_old(m, &v[i]) <= old)
			low = middle + 1;
		else
			high = i;
	}
	for (i = low; i && !(v[i - 1].old & BACK_CODE); i--)
		;
	if (i && has_old(m, i - 1, old))
		return i - 1;
	for (i = 0; i < m->object_header->nback && !has_old(m, i, old); i++)
		;
	return i;
}

/* is that inserted code which counts for threads? (sites.c) */
static _Bool in_room(const struct counted_image *m, uintptr_t pc)
{
	return m->changed &&
	       pc - m->room < (uintptr_t)m->nsite * ARCH_THREAD_ROOM;
}

/* the object whose new code is there, and whose handlers see old; or NULL */
static const struct counted_image *find(const struct counting *c, uintptr_t pc)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		const struct object_header *p = m->object_header;

		if (m->state != IMAGE_GONE && p->nback &&
		    (in_room(m, pc) ||
		     pc - m->base - p->back_base < p->high - p->back_base))
			return m;
	}
	return NULL;
}

/* the object whose old code is there, and whose handlers see old; or NULL */
static const struct counted_image *find_old(const struct counting *c,
					    uintptr_t pc)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		const struct object_header *p = m->object_header;

		if (m->state != IMAGE_GONE && p->nback &&
		    pc - m->base - p->low < p->back_base - p->low)
			return m;
	}
	return NULL;
}

/*
 * Goes on to an instruction of the program's, or back to the beginning of one;
 * its entry, or NULL: the thread is left where it is.
 */
static const struct back_entry *settle(const struct counting *c,
				       const struct counted_image *m,
				       void *context)
{
	static const struct back_entry inserted;

	for (unsigned i = 0; i < STEPS; i++) {
		uintptr_t pc = arch_pc(context);
		const struct back_entry *x =
			in_room(m, pc) ? &inserted : entry_at(m, pc);

		if (!x)
			return NULL;
		if (x->old & BACK_RUN)
			return x;
		if (x->old & BACK_CODE) {
			arch_undo(context, entry_new(m, x));
			return x;
		}
		/* what appends to a trace is not done for the thread: of that
		   the record of the signal (trace.c) knows nothing */
		if (c->traces || !arch_step(context, c->quick))
			return NULL;
	}
	return NULL;
}

/* old text that leads to the new code is not what the program has there */
static void leave_old(const struct counting *c, void *context)
{
	const struct counted_image *m = find_old(c, arch_pc(context));
	uintptr_t to = m ? arch_pad((const void *)arch_pc(context)) : 0;

	if (to && to - m->base - m->object_header->back_base <
			  m->object_header->high - m->object_header->back_base)
		arch_set_pc(context, to);
}

void context_begins(struct counting *c, void *context,
		  const struct frame *record, struct signal_context *s)
{
	const struct counted_image *m;
	const struct back_entry *x;
	uintptr_t pc;

	leave_old(c, context);
	m = find(c, arch_pc(context));
	x = m ? settle(c, m, context) : NULL;
	pc = arch_pc(context);
	if (!x)
		return;
	*s = (struct signal_context){old_address(m, x, pc), pc, context, 0};
	handler_sees(c, record, s->old);
	arch_set_pc(context, s->old);
}

/* is the thread to call a function, and then to go on where it was? */
static _Bool is_preempted(const struct counting *c,
			  const struct signal_context *s)
{
	const struct counted_image *m = find(c, s->new);

	return m && m->object_header->preempts &&
	       arch_pc(s->context) == m->base + m->object_header->preempts;
}

/* of what is at an old address; that one, if it has not moved */
static uintptr_t new_address(const struct counting *c, uintptr_t old)
{
	const struct counted_image *m = find_old(c, old);
	uint32_t i = m ? entry_with(m, old) : 0;

	if (!m || i == m->object_header->nback)
		return old;
	return entry_new(m, table(m) + i) +
	       (old - entry_old(m, table(m) + i));
}

void context_ends(struct counting *c, const struct signal_context *s)
{
	unsigned long context[ARCH_UC_WORDS];

	if (!s->new)
		return;
	if (arch_pc(s->context) == s->old) {
		arch_set_pc(s->context, s->new);
		return;
	}
	if (!c->process || c->confined || !process_is_own(c))
		return;
	if (is_preempted(c, s)) {
		suspended_add(c, s->new,
			      new_address(c, arch_return(s->context)));
		return;
	}
	/* the thread goes on elsewhere: for the block it ended */
	__builtin_memcpy(context, s->context, sizeof context);
	arch_set_pc(context, s->new);
	note_begins(c->process);
	place_note(c, thread_self(c), context, 0);
	note_ends(c->process);
}

uintptr_t context_target(uintptr_t old, const struct launch_env *h)
{
	uintptr_t new = h->counting ? new_address(h->counting, old) : old;

	if (new != old && !h->counting->confined)
		suspended_remove(h->counting, new);
	return new;
}
