/*
 * suspended: where threads were interrupted by a scheduler of the program's
 * (Go's), which lets some thread go on there later. What is still suspended
 * when the process ends has ended there (ends.c).
 */
#include "runtime/counting.h"

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
