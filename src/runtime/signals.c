/*
 * signals: no handler runs within an increment.
 *
 * A counter is read, added to and written by three instructions. A handler
 * that runs in between, and counts there as well, would have its counts
 * overwritten. So handlers of the program are reached by way of ours, which
 * first sends the interrupted code back to the beginning of its increment: the
 * instruction that reads. The kernel has our address where it should have the
 * program's, which rt_sigaction() still gives back to the program.
 *
 * rt_sigaction() is changed in the hook before it and put right in the one
 * behind it; the lock is held in between, for what the program is shown and
 * what the kernel has must agree.
 *
 * Signals whose default action ends the process go by way of ours, too: where
 * the program has SIG_DFL the kernel has our handler, which notes where the
 * thread is (exits.c) and lets happen what would have: it sets SIG_DFL and
 * returns, to an instruction that fails again, or with the same signal sent
 * once more. Blocked, waited for or ignored signals are not concerned, execve()
 * resets handlers by itself, and a program that asks is shown SIG_DFL. A child
 * that shares memory (vfork) has actions of its own, and says nothing to us.
 */
#include "runtime/counting.h"

enum {
	FLAG_SIGINFO = 4,
	FLAG_ON_STACK = 0x08000000, /* if the program has one for signals */
	UNBLOCKABLE = 1 << 8 | 1 << 18, /* SIGKILL, SIGSTOP */
	MASK_UNBLOCK = 1, /* SIG_UNBLOCK */

	SIGNAL_ILL = 4,
	SIGNAL_TRAP = 5,
	SIGNAL_BUS = 7,
	SIGNAL_FPE = 8,
	SIGNAL_SEGV = 11,
	BUS_ADDRESS = 2, /* BUS_ADRERR: there is nothing behind it */
	BUS_LATER = 5, /* BUS_MCEERR_AO: not of the instruction */
};
#define FLAG_RESET UINT64_C(0x80000000) /* SA_RESETHAND */

static const uint64_t bus_bit = 1 << (SIGNAL_BUS - 1);

ARCH_SIGNAL_ARRIVES;

/* the kernel's siginfo, as far as we read it */
struct signal_info {
	int32_t signal, error, code, pad;
	uintptr_t address;
};

static _Bool is_ours(const struct kernel_action *a)
{
	return a->handler == (uintptr_t)signal_arrives;
}

static _Bool is_function(const struct kernel_action *a)
{
	return a->handler > 1; /* neither SIG_DFL nor SIG_IGN */
}

/* the default action ends the process, and can be another */
static _Bool is_fatal(uint64_t signal)
{
	switch (signal) {
	case 9:	 /* SIGKILL */
	case 17: /* SIGCHLD */
	case 18: /* SIGCONT */
	case 19: /* SIGSTOP */
	case 20: /* SIGTSTP */
	case 21: /* SIGTTIN */
	case 22: /* SIGTTOU */
	case 23: /* SIGURG */
	case 28: /* SIGWINCH */
		return 0;
	}
	return ARCH_NOTES_ENDS;
}

static long set_action(uint64_t signal, const struct kernel_action *new,
		       struct kernel_action *old)
{
	return arch_call(SYS_RT_SIGACTION, (long)signal, (long)new, (long)old,
			 sizeof new->mask, 0);
}

/* ours, for a signal of which the program thinks that it has SIG_DFL */
static struct kernel_action ending_action(void)
{
	uintptr_t arrives = (uintptr_t)signal_arrives;

	/* in a constant in memory, it would need to be relocated */
	__asm__("" : "+r"(arrives));
	return (struct kernel_action){
		.handler = arrives,
		.flags = FLAG_SIGINFO | FLAG_ON_STACK | ARCH_ACTION_FLAGS,
		.restorer = ARCH_RESTORER,
		.mask = ~(uint64_t)0,
	};
}

/* the kernel has SIG_DFL for the signal: it gets our handler */
static void catch_default(uint64_t signal)
{
	struct kernel_action a = {0}, ending = ending_action();

	if (is_fatal(signal) && !set_action(signal, NULL, &a) && !a.handler)
		set_action(signal, &ending, NULL);
}

void signals_begin(struct counting *c)
{
	uint64_t mask = 0;

	/* SIGBUS may have been blocked before the program was executed */
	arch_call(SYS_RT_SIGPROCMASK, 0, 0, (long)&mask, sizeof mask, 0);
	c->thick |= (mask & bus_bit) != 0;
	/* the first process of a container is not ended by default */
	if (c->pid == 1)
		return;
	for (uint64_t s = 1; s <= SIGNALS; s++)
		catch_default(s);
}

void signals_leave(struct counting *c)
{
	static const struct kernel_action none;
	struct kernel_action a = {0};

	for (uint64_t s = 1; s <= SIGNALS; s++)
		if (is_fatal(s) && !c->reported[s].handler &&
		    !set_action(s, NULL, &a) && is_ours(&a))
			set_action(s, &none, NULL);
}

/* all of the structure can be read */
static _Bool readable(const struct kernel_action *a)
{
	return a && sys_readable(a) && sys_readable(&a->mask);
}

/*
 * From now on a counter could not be mended: all are reserved. What blocks
 * signals that only the C library knows, 32 and 33, is that itself, for as long
 * as it does not leave its own code.
 */
void signals_on_mask(struct counting *c, const struct arch_hook *g)
{
	static const uint64_t internal = UINT64_C(3) << 31;
	const uint64_t *mask = (const void *)g->arg[1];

	if (!c->thick && mask && g->arg[0] != MASK_UNBLOCK &&
	    sys_readable(mask) && (*mask & bus_bit) && !(*mask & internal))
		threads_thicken(c);
}

/* what the kernel gets for what the program wants */
static void translate(struct counting *c, uint64_t signal,
		      const struct kernel_action *act)
{
	c->reported[signal] = *act;
	c->reported[signal].mask &= ~(uint64_t)UNBLOCKABLE;
	if (!act->handler) {
		c->action = ending_action();
		return;
	}
	c->action = *act;
	c->action.handler = (uintptr_t)signal_arrives;
	c->action.flags |= FLAG_SIGINFO; /* it wants to see the registers */
	c->action.mask &= ~bus_bit; /* mend_counter() */
}

void signals_before(struct counting *c, struct arch_hook *g)
{
	uint64_t signal = g->arg[0];
	const struct kernel_action *act = (const void *)g->arg[1];

	if (!signal || signal > SIGNALS || g->arg[3] != sizeof act->mask ||
	    (act && !readable(act)))
		return;
	counting_lock(c);
	c->acting = thread_self(c);
	c->acting_signal = signal;
	c->acting_with = g->arg[1];
	c->reported_before = c->reported[signal];
	if (!act || !process_is_own(c) ||
	    !(is_function(act) ||
	      (!act->handler && is_fatal(signal) && c->pid != 1)))
		return;
	translate(c, signal, act);
	g->arg[1] = (unsigned long)&c->action;
}

void signals_after(struct counting *c, struct arch_hook *g, long result)
{
	struct kernel_action *old = (void *)g->arg[2];
	uint64_t signal = c->acting_signal;

	/* the kernel changes no register but the result's */
	g->arg[1] = c->acting_with;
	c->acting = 0;
	if (result)
		c->reported[signal] = c->reported_before;
	else if (old && is_ours(old)) {
		old->handler = c->reported_before.handler;
		old->mask = c->reported_before.mask;
		if (!(c->reported_before.flags & FLAG_SIGINFO))
			old->flags &= ~(uint64_t)FLAG_SIGINFO;
		if (!old->handler)
			*old = c->reported_before;
	}
	counting_unlock(c);
}

/* is the address one of a counter that this thread writes? */
static _Bool is_counter(const struct counting *c, uintptr_t at)
{
	int64_t slot = thread_slot(c);

	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);
		uintptr_t piece = (uintptr_t)image_piece(m, slot);
		uintptr_t own = (uintptr_t)m->counters;

		if (m->state != IMAGE_GONE &&
		    (at - (piece - m->run) < m->run + m->size ||
		     at - (own - m->run) < m->run + m->size))
			return 1;
	}
	return 0;
}

/* the instruction that was interrupted would be so again */
static _Bool fails_again(const struct signal_info *info)
{
	switch (info->signal) {
	case SIGNAL_BUS:
		return info->code > 0 && info->code != BUS_LATER;
	case SIGNAL_ILL:
	case SIGNAL_TRAP:
	case SIGNAL_FPE:
	case SIGNAL_SEGV:
		return info->code > 0;
	}
	return 0;
}

/* sends the signal once more; it arrives when the handler has returned */
static void send_again(uint64_t signal, const struct signal_info *info)
{
	long pid = sys_pid();
	long tid = sys_tid();

	if (arch_call(SYS_RT_TGSIGQUEUEINFO, pid, tid, (long)signal,
		      (long)info, 0))
		arch_call(SYS_TGKILL, pid, tid, (long)signal, 0, 0);
}

/* in the place of SIG_DFL */
static void end_by_signal(uint64_t signal, const struct signal_info *info,
			  void *context)
{
	static const struct kernel_action none;
	struct counting *c = counting_here();

	if (c->process)
		note_begins(c->process);
	trace_killed(c, signal, context);
	end_note(c, context);
	handler_noted(c, context);
	handlers_end(c, (const void *)arch_frame(context), NULL);
	process_ends(c, ENDED_BY_SIGNAL);
	if (c->process)
		note_ends(c->process);
	set_action(signal, &none, NULL);
	arch_unblock(context, (unsigned)signal);
	if (!fails_again(info))
		send_again(signal, info);
}

/* the kernel has taken the handler away: SA_RESETHAND */
static void take_again(struct counting *c, uint64_t signal)
{
	if (c->confined || !process_is_own(c))
		return;
	counting_lock(c);
	if (c->reported[signal].flags & FLAG_RESET) {
		c->reported[signal].handler = 0;
		if (c->pid != 1 && !c->interposed)
			catch_default(signal);
	}
	counting_unlock(c);
}

/* memory in the place of a part of the file that is not there any more */
static void keep_readable(const void *at, uint64_t size)
{
	if (!sys_readable(at))
		sys_map_over(at, size);
}

/*
 * A counter has no room on disk (live_profile.c), or the file was cut off: from
 * now on it is in memory alone, with all on its page, and the instruction is
 * tried again.
 */
static _Bool mend_counter(struct counting *c, const struct signal_info *info)
{
	uintptr_t page = info->address & -(uintptr_t)c->page;

	if (info->code != BUS_ADDRESS || !is_counter(c, info->address) ||
	    !sys_map_over((const void *)page, c->page))
		return 0;
	keep_readable(c->header, c->page);
	if (c->process)
		keep_readable(c->process, process_size(c));
	live_profile_trouble(c, TROUBLE_NO_SPACE);
	return 1;
}

/* a handler where there is nothing left to do */
static void mended(void)
{
}

uintptr_t signal_real(uint64_t signal, void *info, void *context,
		      const struct frame *record, struct signal_context *shown)
{
	struct counting *c = counting_here();
	uintptr_t counter, begin, handler = c->reported[signal].handler;

	shown->old = shown->new = shown->calls = 0;
	if (signal == SIGNAL_BUS && mend_counter(c, info))
		return (uintptr_t)mended;
	if (!handler) {
		handler_begins(c, context, record);
		return (uintptr_t)end_by_signal;
	}
	begin = arch_increment(context, &counter);
	if (begin && is_counter(c, counter))
		arch_set_pc(context, begin);
	if (calls_in_code(c, arch_pc(context)))
		arch_set_pc(context, arch_accumulation(arch_pc(context)));
	trace_signal(c, signal, context);
	if (c->reported[signal].flags & FLAG_RESET)
		take_again(c, signal);
	/* where the C library has no hooks, no longjmp() out of it is seen */
	if (!c->interposed)
		handler_begins(c, context, record);
	context_begins(c, context, record, shown);
	calls_handler_begins(c, signal, shown);
	/* the trace says that it does (trace_signal()) */
	if (c->traces && ARCH_CAN_SEE_RETURNS)
		shown->calls |= 1;
	return handler;
}

void signal_returned(const struct frame *record,
		     const struct signal_context *shown)
{
	struct counting *c = counting_here();

	calls_handler_ends(c, shown);
	context_ends(c, shown);
	trace_resumes(c, shown->new ? shown->context : NULL);
	handler_returned(c, record);
}
