/*
 * interpose_signals: handlers of a program whose C library has no hooks are
 * reached by way of ours, as in signals.c, and a program that asks is told its
 * own. Default actions are left alone.
 */
#include "runtime/interpose.h"

enum { FLAG_SIGINFO = 4 };

/* struct sigaction of glibc and musl */
struct interpose_action {
	uintptr_t handler;
	uint64_t mask[16];
	int32_t flags;
	uintptr_t restorer;
};

/* neither SIG_DFL nor SIG_IGN */
static _Bool is_function(uintptr_t handler)
{
	return handler > 1;
}

static _Bool is_signal(long signal)
{
	return signal > 0 && signal <= SIGNALS;
}

/* may what the kernel has be another than what the program wants? */
static _Bool may_translate(const struct counting *c)
{
	return !c->confined && process_is_own(c);
}

/* what the kernel gets for *act, and what the program is shown instead */
static struct interpose_action translate(struct counting *c, int signal,
					 const struct interpose_action *act)
{
	struct interpose_action new = *act;

	c->reported[signal] = (struct kernel_action){
		.handler = act->handler,
		.flags = (uint64_t)(uint32_t)act->flags,
		.mask = act->mask[0],
	};
	new.handler = (uintptr_t)signal_arrives;
	new.flags |= FLAG_SIGINFO; /* it wants to see the registers */
	return new;
}

/* what the program gets to see of what was there */
static void translate_back(const struct kernel_action *action,
			   struct interpose_action *old)
{
	if (old->handler != (uintptr_t)signal_arrives)
		return;
	old->handler = action->handler;
	if (!(action->flags & FLAG_SIGINFO))
		old->flags &= ~FLAG_SIGINFO;
}

int interpose_sigaction(int signal, const struct interpose_action *act,
			struct interpose_action *old)
{
	struct counting *c = counting_here();
	int (*real)(int, const struct interpose_action *,
		    struct interpose_action *) =
		interpose_real(c, INTERPOSE_SIGACTION);
	struct kernel_action before;
	struct interpose_action new;
	int r;

	if (!is_signal(signal) || !may_translate(c)) {
		r = real(signal, act, old);
		if (!r && old)
			translate_back(&c->reported[signal], old);
		return r;
	}
	counting_lock(c);
	before = c->reported[signal];
	if (act && is_function(act->handler)) {
		new = translate(c, signal, act);
		act = &new;
	}
	r = real(signal, act, old);
	if (r)
		c->reported[signal] = before;
	else if (old)
		translate_back(&before, old);
	counting_unlock(c);
	return r;
}

/*
 * The C library has set a handler in a way of its own: ours takes its place.
 * Another thread may have got it from the kernel in between, once.
 */
static void adopt(struct counting *c, int signal)
{
	struct kernel_action a = {0};

	if (arch_call(SYS_RT_SIGACTION, signal, 0, (long)&a, sizeof a.mask,
		      0) ||
	    !is_function(a.handler) || a.handler == (uintptr_t)signal_arrives)
		return;
	c->reported[signal] = a;
	a.handler = (uintptr_t)signal_arrives;
	a.flags |= FLAG_SIGINFO;
	arch_call(SYS_RT_SIGACTION, signal, (long)&a, 0, sizeof a.mask, 0);
}

/* one of those that are signal() by another name, or much like it */
static uintptr_t call_signal(enum interposed_call h, int signal,
			     uintptr_t handler)
{
	struct counting *c = counting_here();
	uintptr_t (*real)(int, uintptr_t) = interpose_real(c, h);
	uintptr_t was, action;

	if (!is_signal(signal))
		return real(signal, handler);
	if (!may_translate(c)) {
		was = real(signal, handler);
		return was == (uintptr_t)signal_arrives
			       ? c->reported[signal].handler
			       : was;
	}
	counting_lock(c);
	action = c->reported[signal].handler;
	was = real(signal, handler);
	adopt(c, signal);
	counting_unlock(c);
	return was == (uintptr_t)signal_arrives ? action : was;
}

uintptr_t interpose_signal(int signal, uintptr_t handler)
{
	return call_signal(INTERPOSE_SIGNAL, signal, handler);
}

uintptr_t interpose_sysv_signal(int signal, uintptr_t handler)
{
	return call_signal(INTERPOSE_SYSV_SIGNAL, signal, handler);
}

uintptr_t interpose_sigset(int signal, uintptr_t handler)
{
	return call_signal(INTERPOSE_SIGSET, signal, handler);
}
