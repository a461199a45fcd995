/*
 * trace_state: what a replay has to know that begins where an epoch does: the
 * place, registers, and the end of the stack, from which it finds the calls
 * that are open (trace/regenerate/unwind.h).
 */
#include "runtime/trace_int.h"

enum { BLOCK = 0 /* SIG_BLOCK */ };

/* can the thread read there? Its signals are blocked: no more are by that */
static _Bool is_readable(const struct tracer *t, uintptr_t at)
{
	return !t->c->confined &&
	       arch_call(SYS_RT_SIGPROCMASK, BLOCK, (long)at, 0, 8, 0) !=
		       -SYS_EFAULT;
}

/* where what can be read ends, at most `most` words behind `at`: the page that
   has the stack's end is there */
static uintptr_t stack_end(const struct tracer *t, uintptr_t at, unsigned most)
{
	uintptr_t page = t->c->page, end = (at + page) & -page;
	uintptr_t limit = at + most * sizeof(uint64_t);

	while (end < limit && is_readable(t, end))
		end += page;
	return end < limit ? end : limit;
}

static void put_stack(const struct tracer *t, uintptr_t sp)
{
	uintptr_t end = stack_end(t, sp, STATE_STACK * STATE_RECORDS);
	const uint64_t *stack = (const void *)sp;
	unsigned n = (unsigned)((end - sp) / sizeof *stack);

	for (unsigned i = 0; i < n; i += STATE_STACK)
		ring_put_record(t, RING_STACK, i, stack + i,
				n - i < STATE_STACK ? n - i : STATE_STACK);
}

void state_begin(const struct tracer *t, const struct arch_asked *k,
		 uintptr_t from, uintptr_t sp)
{
	uint64_t payload[2 + ARCH_ASKED_REGS] = {from, sp};

	ring_begin_epoch(t);
	if (!*tracer_word(t, TRACE_PAGE_NEXT))
		return;
	arch_asked_regs(k, payload + 2);
	ring_put_record(t, RING_STATE, 0, payload, 2 + ARCH_ASKED_REGS);
	if (sp % sizeof *payload == 0)
		put_stack(t, sp);
	ring_set_limit(t);
}
