/*
 * aside: gates of programs whose stacks are small (Go's goroutines, which check
 * before a call how much is left, and know how much a system call needs) work
 * on a stack of ours. There is one, which threads take in turns.
 *
 * A handler that interrupts a thread there, and asks a gate itself, runs on the
 * stack that the program has for signals, which is large.
 */
#include "runtime/counting.h"

enum {
	SIZE = 1 << 16, /* bytes */
	TURNS = 1 << 10, /* between two looks if its owner is of this process */
};

typedef void gate(struct arch_gate *g, const struct handover *h);

void aside_begin(struct counting *c)
{
	if (!c->aside)
		c->aside = sys_map(SIZE);
}

static void take(struct counting *c, uint32_t self)
{
	uint32_t none = 0;

	for (unsigned i = 1;
	     !__atomic_compare_exchange_n(&c->aside_owner, &none, self, 0,
					  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	     i++) {
		/* a child has its parent's memory, but not that thread */
		if (i % TURNS == 0 && !process_is_own(c))
			c->aside_owner = 0;
		none = 0;
		arch_call(SYS_SCHED_YIELD, 0, 0, 0, 0, 0);
	}
}

static void run(gate *f, struct arch_gate *g, const struct handover *h)
{
	struct counting *c = h->counting;
	uint32_t self;

	if (!c || !c->aside || c->confined) {
		f(g, h);
		return;
	}
	self = (uint32_t)arch_call(SYS_GETTID, 0, 0, 0, 0, 0);
	if (__atomic_load_n(&c->aside_owner, __ATOMIC_RELAXED) == self) {
		f(g, h);
		return;
	}
	take(c, self);
	arch_run_on(c->aside + SIZE, f, g, h);
	__atomic_store_n(&c->aside_owner, 0, __ATOMIC_RELEASE);
}

void aside_on_call(struct arch_gate *g, const struct handover *h)
{
	run(world_on_call, g, h);
}

void aside_after_call(struct arch_gate *g, const struct handover *h)
{
	run(counting_after_call, g, h);
}
