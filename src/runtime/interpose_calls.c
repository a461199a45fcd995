/*
 * interpose_calls: system calls by way of a C library that has no hooks. Those
 * that matter are reported as by a hook (counting.c): a program that locks
 * itself in, or loses the right to open the profile. syscall() may be any of
 * them.
 */
#include "runtime/interpose.h"

/* makes a process; in which of them it returns is its result */
static long forks(const struct counting *c, const struct arch_hook *g)
{
	long (*real)(long, long, long, long, long, long) =
		interpose_real(c, INTERPOSE_SYSCALL);
	long r;

	interpose_fork_begins();
	r = real((long)g->nr, (long)g->arg[0], (long)g->arg[1], (long)g->arg[2],
		 (long)g->arg[3], (long)g->arg[4]);
	if (r)
		interpose_fork_result(r);
	else
		interpose_fork_child();
	return r;
}

void interpose_clone_unseen(struct counting *c, uint64_t flags)
{
	if (!(flags & SYS_CLONE_VM))
		live_profile_trouble(c, TROUBLE_FORK);
	else if (!(flags & SYS_CLONE_VFORK))
		live_profile_trouble(c, TROUBLE_THREADS);
}

long interpose_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	struct counting *k = counting_here();
	const struct launch_env *h = k->interposed->launch_env;
	long (*real)(long, long, long, long, long, long, long) =
		interpose_real(k, INTERPOSE_SYSCALL);
	struct arch_hook g = {
		.nr = (unsigned long)nr,
		.arg = {(unsigned long)a, (unsigned long)b, (unsigned long)c,
			(unsigned long)d, (unsigned long)e, (unsigned long)f},
	};
	struct clone_call x;
	long r;

	/* what begins on a stack of its own cannot return by way of us */
	if (clone_read(&g, k->confined, &x)) {
		if (!(x.flags & SYS_CLONE_VM) && !x.stack)
			return forks(k, &g);
		interpose_clone_unseen(k, x.flags);
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

int interpose_prctl(int option, long a, long b, long c, long d)
{
	struct counting *k = counting_here();
	int (*real)(int, long, long, long, long) =
		interpose_real(k, INTERPOSE_PRCTL);
	struct arch_hook g = {
		.nr = SYS_PRCTL,
		.arg = {(unsigned long)option, (unsigned long)a,
			(unsigned long)b, (unsigned long)c, (unsigned long)d},
	};

	counting_on_call(&g, k->interposed->launch_env);
	return real(option, a, b, c, d);
}

/* calls what may take the right to open the profile away */
static long keeps(enum interposed_call h, long a, long b, long c)
{
	struct counting *k = counting_here();
	long (*real)(long, long, long) = interpose_real(k, h);

	if (!k->confined)
		live_profile_keep(k);
	return real(a, b, c);
}

long interpose_chroot(long path)
{
	return keeps(INTERPOSE_CHROOT, path, 0, 0);
}

long interpose_setuid(long id)
{
	return keeps(INTERPOSE_SETUID, id, 0, 0);
}

long interpose_seteuid(long id)
{
	return keeps(INTERPOSE_SETEUID, id, 0, 0);
}

long interpose_setreuid(long real, long effective)
{
	return keeps(INTERPOSE_SETREUID, real, effective, 0);
}

long interpose_setresuid(long real, long effective, long saved)
{
	return keeps(INTERPOSE_SETRESUID, real, effective, saved);
}

long interpose_setgid(long id)
{
	return keeps(INTERPOSE_SETGID, id, 0, 0);
}

long interpose_setegid(long id)
{
	return keeps(INTERPOSE_SETEGID, id, 0, 0);
}

long interpose_setresgid(long real, long effective, long saved)
{
	return keeps(INTERPOSE_SETRESGID, real, effective, saved);
}

long interpose_unshare(long flags)
{
	return keeps(INTERPOSE_UNSHARE, flags, 0, 0);
}

long interpose_setns(long fd, long flags)
{
	return keeps(INTERPOSE_SETNS, fd, flags, 0);
}
