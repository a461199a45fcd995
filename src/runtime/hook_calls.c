/*
 * hook_calls: system calls by way of a C library that has no gates. Of those
 * that matter is told as a gate would (counting.c): a program that locks
 * itself in, or loses the right to open the profile. syscall() may be any of
 * them.
 */
#include "runtime/clone.h"
#include "runtime/hooks_int.h"

/* makes a process; in which of them it returns is its result */
static long forks(const struct counting *c, const struct arch_gate *g)
{
	long (*real)(long, long, long, long, long, long) =
		hook_real(c, HOOK_SYSCALL);
	long r;

	hook_fork_begins();
	r = real((long)g->nr, (long)g->arg[0], (long)g->arg[1],
		 (long)g->arg[2], (long)g->arg[3], (long)g->arg[4]);
	if (r)
		hook_fork_result(r);
	else
		hook_fork_child();
	return r;
}

void hook_clone_unseen(struct counting *c, uint64_t flags)
{
	if (!(flags & CLONE_VM))
		ledger_trouble(c, TROUBLE_FORK);
	else if (!(flags & CLONE_VFORK))
		ledger_trouble(c, TROUBLE_THREADS);
}

long hook_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	struct counting *k = counting_here();
	const struct launch_env *h = k->hooks->launch_env;
	long (*real)(long, long, long, long, long, long, long) =
		hook_real(k, HOOK_SYSCALL);
	struct arch_gate g = {
		.nr = (unsigned long)nr,
		.arg = {(unsigned long)a, (unsigned long)b, (unsigned long)c,
			(unsigned long)d, (unsigned long)e, (unsigned long)f},
	};
	struct clone_call x;
	long r;

	/* what begins on a stack of its own cannot return by way of us */
	if (clone_read(&g, k->confined, &x)) {
		if (!(x.flags & CLONE_VM) && !x.stack)
			return forks(k, &g);
		hook_clone_unseen(k, x.flags);
		return real(nr, a, b, c, d, e, f);
	}
	/* handlers are the C library's business */
	if (nr != SYS_RT_SIGACTION)
		counting_on_call(&g, h);
	r = real(nr, a, b, c, d, e, f);
	if (k->executing == (uintptr_t)&g)
		counting_after_call(&g, h);
	return r;
}

int hook_prctl(int option, long a, long b, long c, long d)
{
	struct counting *k = counting_here();
	int (*real)(int, long, long, long, long) = hook_real(k, HOOK_PRCTL);
	struct arch_gate g = {
		.nr = SYS_PRCTL,
		.arg = {(unsigned long)option, (unsigned long)a,
			(unsigned long)b, (unsigned long)c, (unsigned long)d},
	};

	counting_on_call(&g, k->hooks->launch_env);
	return real(option, a, b, c, d);
}

/* calls what may take the right to open the profile away */
static long keeps(enum hook h, long a, long b, long c)
{
	struct counting *k = counting_here();
	long (*real)(long, long, long) = hook_real(k, h);

	if (!k->confined)
		ledger_keep(k);
	return real(a, b, c);
}

long hook_chroot(long path)
{
	return keeps(HOOK_CHROOT, path, 0, 0);
}

long hook_setuid(long id)
{
	return keeps(HOOK_SETUID, id, 0, 0);
}

long hook_seteuid(long id)
{
	return keeps(HOOK_SETEUID, id, 0, 0);
}

long hook_setreuid(long real, long effective)
{
	return keeps(HOOK_SETREUID, real, effective, 0);
}

long hook_setresuid(long real, long effective, long saved)
{
	return keeps(HOOK_SETRESUID, real, effective, saved);
}

long hook_setgid(long id)
{
	return keeps(HOOK_SETGID, id, 0, 0);
}

long hook_setegid(long id)
{
	return keeps(HOOK_SETEGID, id, 0, 0);
}

long hook_setresgid(long real, long effective, long saved)
{
	return keeps(HOOK_SETRESGID, real, effective, saved);
}

long hook_unshare(long flags)
{
	return keeps(HOOK_UNSHARE, flags, 0, 0);
}

long hook_setns(long fd, long flags)
{
	return keeps(HOOK_SETNS, fd, flags, 0);
}
