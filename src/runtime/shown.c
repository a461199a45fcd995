/*
 * shown: the addresses that handlers of signals see.
 *
 * Some runtimes look up where a signal interrupted their code, in tables that
 * know old addresses (cfg/pinned.c). Their handlers are shown the old address
 * that stands for the new one; if they leave it, the new one is put back when
 * they return, else the thread goes on where they say.
 */
#include "runtime/counting.h"

/* the old address of a new one, by the object's table; 0: there is none */
static uintptr_t old_address(const struct counted_image *m, uintptr_t pc)
{
	const struct passport *p = m->passport;
	const struct back_entry *v = (const void *)((const char *)p + p->back);
	uint64_t at = pc - m->base - p->back_base;
	uint32_t low = 0, high = p->nback, old;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v[middle].new <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || (v[low - 1].old & ~BACK_RUN) == BACK_NONE)
		return 0;
	old = v[low - 1].old;
	return m->base + p->low + (old & ~BACK_RUN) +
	       (old & BACK_RUN ? at - v[low - 1].new : 0);
}

/* the object whose new code is there, and whose handlers see old; or NULL */
static const struct counted_image *find(const struct counting *c, uintptr_t pc)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		const struct passport *p = m->passport;

		if (m->state != IMAGE_GONE && p->nback &&
		    pc - m->base - p->back_base < p->high - p->back_base)
			return m;
	}
	return NULL;
}

void shown_begins(struct counting *c, void *context,
		  const struct frame *record, struct shown *s)
{
	uintptr_t pc = arch_pc(context), old;
	const struct counted_image *m = find(c, pc);

	if (!m || !(old = old_address(m, pc)))
		return;
	*s = (struct shown){old, pc, context};
	handler_sees(c, record, old);
	arch_set_pc(context, old);
}

void shown_ends(struct counting *c, const struct shown *s)
{
	unsigned long context[ARCH_UC_WORDS];

	if (!s->new)
		return;
	if (arch_pc(s->context) == s->old) {
		arch_set_pc(s->context, s->new);
		return;
	}
	/* the thread goes on elsewhere: for the block it ended */
	if (!c->process || c->confined || !process_is_own(c))
		return;
	__builtin_memcpy(context, s->context, sizeof context);
	arch_set_pc(context, s->new);
	note_begins(c->process);
	place_note(c, thread_self(c), context, 0);
	note_ends(c->process);
}
