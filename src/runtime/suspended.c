/*
 * suspended: where threads were interrupted by a scheduler of the program's
 * (Go's), which lets some thread go on there later. What is still suspended
 * when the process ends has ended there (ends.c).
 */
#include "runtime/counting.h"

/* the place of that address, or one that is free; NULL: there is none */
static struct suspended *place_of(struct counting *c, uintptr_t at)
{
	struct suspended *unused = NULL;

	for (unsigned i = 0; i < SUSPENDED; i++) {
		struct suspended *s = &c->suspended[i];

		if (s->n && s->at == at)
			return s;
		if (!s->n && !unused)
			unused = s;
	}
	return unused;
}

void suspended_add(struct counting *c, uintptr_t at)
{
	struct suspended *s;

	counting_lock(c);
	s = place_of(c, at);
	if (s) {
		s->at = at;
		s->n++;
	} else {
		note_begins(c->process); /* and never ends */
	}
	counting_unlock(c);
}

void suspended_remove(struct counting *c, uintptr_t at)
{
	struct suspended *s;

	counting_lock(c);
	s = place_of(c, at);
	if (s && s->n)
		s->n--;
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
