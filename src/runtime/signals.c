/*
 * signals: no handler runs within an increment.
 *
 * A counter is read, added to and written by three instructions. A handler
 * that runs in between, and counts there as well, would have its counts
 * overwritten. So handlers of the program are reached by way of ours, which
 * first sends the interrupted code back to the beginning of its increment: the
 * instruction that reads. The kernel has our address where it should have the
 * program's, which is given back to whoever asks.
 *
 * rt_sigaction() is changed in the gate before it and put right in the one
 * behind it; the lock is held in between, for what is told and what the kernel
 * knows have to agree.
 */
#include "runtime/counting.h"

enum { FLAG_SIGINFO = 4 };

/* where handlers begin; tail-calls what signal_real() says */
__attribute__((visibility("hidden"))) void signal_arrives(void);
ARCH_SIGNAL_ARRIVES;

static _Bool is_ours(const struct kernel_action *a)
{
	return a->handler == (uintptr_t)signal_arrives;
}

static _Bool is_function(const struct kernel_action *a)
{
	return a->handler > 1; /* neither SIG_DFL nor SIG_IGN */
}

/* all of the structure can be read */
static _Bool readable(const struct kernel_action *a)
{
	return a && sys_readable(a) && sys_readable(&a->mask);
}

void signals_before(struct counting *c, struct arch_gate *g)
{
	uint64_t signal = g->arg[0];
	const struct kernel_action *act = (const void *)g->arg[1];

	if (!signal || signal > SIGNALS || g->arg[3] != sizeof act->mask ||
	    (act && !readable(act)))
		return;
	counting_lock(c);
	c->acting = arch_thread();
	c->acting_signal = signal;
	c->acting_with = g->arg[1];
	c->told_before = c->told[signal];
	if (!act || !is_function(act))
		return;
	c->action = *act;
	c->action.handler = (uintptr_t)signal_arrives;
	c->action.flags |= FLAG_SIGINFO; /* it wants to see the registers */
	c->told[signal] = *act;
	g->arg[1] = (unsigned long)&c->action;
}

void signals_after(struct counting *c, struct arch_gate *g, long result)
{
	struct kernel_action *old = (void *)g->arg[2];
	uint64_t signal = c->acting_signal;

	/* the kernel changes no register but the result's */
	g->arg[1] = c->acting_with;
	c->acting = 0;
	if (result)
		c->told[signal] = c->told_before;
	else if (old && is_ours(old)) {
		old->handler = c->told_before.handler;
		if (!(c->told_before.flags & FLAG_SIGINFO))
			old->flags &= ~(uint64_t)FLAG_SIGINFO;
	}
	counting_unlock(c);
}

/* is the address one of a counter that this thread writes? */
static _Bool is_counter(const struct counting *c, uintptr_t at)
{
	int64_t slot = *thread_word();

	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		uintptr_t piece = (uintptr_t)image_piece(m, slot);
		uintptr_t own = (uintptr_t)m->counters;

		if (m->state != IMAGE_GONE &&
		    (at - piece < m->size || at - own < m->size))
			return 1;
	}
	return 0;
}

/* called by signal_arrives(): the program's handler */
__attribute__((visibility("hidden"), used))
uintptr_t signal_real(uint64_t signal, void *info, void *context)
{
	struct counting *c = counting_here();
	uintptr_t counter, begin;

	(void)info;
	begin = arch_increment(context, &counter);
	if (begin && is_counter(c, counter))
		arch_set_pc(context, begin);
	return c->told[signal].handler;
}
