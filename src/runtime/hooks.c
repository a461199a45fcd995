/* hooks: see hooks.h. */
#include "runtime/hooks_int.h"

/* not inlined: a table of addresses would need to be relocated */
__attribute__((noinline))
static void bind(struct binding *b, const char *name, void *ours)
{
	*b = (struct binding){name, (uintptr_t)ours, 0};
}

/* those that have the C library call the program in a thread */
static void bind_notify(struct binding *b)
{
	bind(&b[HOOK_TIMER_CREATE], "timer_create", hook_timer_create);
	bind(&b[HOOK_MQ_NOTIFY], "mq_notify", hook_mq_notify);
	bind(&b[HOOK_GETADDRINFO_A], "getaddrinfo_a", hook_getaddrinfo_a);
	bind(&b[HOOK_AIO_READ], "aio_read", hook_aio_read);
	bind(&b[HOOK_AIO_READ64], "aio_read64", hook_aio_read);
	bind(&b[HOOK_AIO_WRITE], "aio_write", hook_aio_write);
	bind(&b[HOOK_AIO_WRITE64], "aio_write64", hook_aio_write);
	bind(&b[HOOK_AIO_FSYNC], "aio_fsync", hook_aio_fsync);
	bind(&b[HOOK_AIO_FSYNC64], "aio_fsync64", hook_aio_fsync);
	bind(&b[HOOK_LIO_LISTIO], "lio_listio", hook_lio_listio);
	bind(&b[HOOK_LIO_LISTIO64], "lio_listio64", hook_lio_listio);
}

/* those that set handlers */
static void bind_signals(struct binding *b)
{
	bind(&b[HOOK_SIGACTION], "sigaction", hook_sigaction);
	bind(&b[HOOK_SIGACTION_ALIAS], "__sigaction", hook_sigaction);
	bind(&b[HOOK_SIGNAL], "signal", hook_signal);
	bind(&b[HOOK_SIGNAL_BSD], "bsd_signal", hook_signal);
	bind(&b[HOOK_SIGNAL_S], "ssignal", hook_signal);
	bind(&b[HOOK_SYSV_SIGNAL], "sysv_signal", hook_sysv_signal);
	bind(&b[HOOK_SYSV_SIGNAL_ALIAS], "__sysv_signal", hook_sysv_signal);
	bind(&b[HOOK_SIGSET], "sigset", hook_sigset);
}

/* those of system calls that are functions of their own */
static void bind_calls(struct binding *b)
{
	bind(&b[HOOK_SYSCALL], "syscall", hook_syscall);
	bind(&b[HOOK_PRCTL], "prctl", hook_prctl);
	bind(&b[HOOK_CHROOT], "chroot", hook_chroot);
	bind(&b[HOOK_SETUID], "setuid", hook_setuid);
	bind(&b[HOOK_SETEUID], "seteuid", hook_seteuid);
	bind(&b[HOOK_SETREUID], "setreuid", hook_setreuid);
	bind(&b[HOOK_SETRESUID], "setresuid", hook_setresuid);
	bind(&b[HOOK_SETGID], "setgid", hook_setgid);
	bind(&b[HOOK_SETEGID], "setegid", hook_setegid);
	bind(&b[HOOK_SETRESGID], "setresgid", hook_setresgid);
	bind(&b[HOOK_UNSHARE], "unshare", hook_unshare);
	bind(&b[HOOK_SETNS], "setns", hook_setns);
}

static void bind_all(struct binding *b)
{
	bind(&b[HOOK_PTHREAD_CREATE], "pthread_create", hook_pthread_create);
	bind(&b[HOOK_THRD_CREATE], "thrd_create", hook_thrd_create);
	bind(&b[HOOK_CLONE], "clone", hook_clone);
	bind(&b[HOOK_FORK], "_Fork", hook_fork);
	bind(&b[HOOK_DAEMON], "daemon", hook_daemon);
	bind(&b[HOOK_EXIT], "_exit", hook_exit);
	bind(&b[HOOK_EXIT_C], "_Exit", hook_exit);
	bind(&b[HOOK_EXECVE], "execve", hook_execve);
	bind(&b[HOOK_EXECV], "execv", hook_execv);
	bind(&b[HOOK_EXECVP], "execvp", hook_execvp);
	bind(&b[HOOK_EXECVPE], "execvpe", hook_execvpe);
	bind(&b[HOOK_FEXECVE], "fexecve", hook_fexecve);
	bind(&b[HOOK_EXECVEAT], "execveat", hook_execveat);
	bind(&b[HOOK_EXECL], "execl", hook_execl);
	bind(&b[HOOK_EXECLP], "execlp", hook_execlp);
	bind(&b[HOOK_EXECLE], "execle", hook_execle);
	bind_notify(b);
	bind_signals(b);
	bind_calls(b);
}

/* the C library calls ours around fork(); false: it cannot */
static _Bool follow_forks(const struct list *objects)
{
	_Bool own = 0;
	int (*glibc)(void (*)(void), void (*)(void), void (*)(void), void *) =
		(void *)object_symbol(objects, "__register_atfork", &own);
	int (*others)(void (*)(void), void (*)(void), void (*)(void)) =
		(void *)object_symbol(objects, "pthread_atfork", &own);

	if (glibc)
		return !glibc(hook_fork_begins, hook_fork_parent,
			      hook_fork_child, NULL);
	return others && !others(hook_fork_begins, hook_fork_parent,
				 hook_fork_child);
}

/* and ours last of all in exit(), as nothing else was registered before */
static void follow_exit(const struct list *objects)
{
	_Bool own = 0;
	int (*at_exit)(void (*)(void *), void *, void *) =
		(void *)object_symbol(objects, "__cxa_atexit", &own);
	int (*at_quick_exit)(void (*)(void *), void *) =
		(void *)object_symbol(objects, "__cxa_at_quick_exit", &own);

	if (!at_quick_exit) /* musl's has one argument */
		at_quick_exit = (void *)object_symbol(objects, "at_quick_exit",
						      &own);
	if (at_exit)
		at_exit(hook_at_exit, NULL, NULL);
	if (at_quick_exit)
		at_quick_exit(hook_at_exit, NULL);
}

/* has a library made a thread already? As far as the C library tells */
static _Bool has_threads(const struct list *objects)
{
	const char *single = object_data(objects, "__libc_single_threaded");

	return single && !*single;
}

/*
 * Finds what is hooked. False: threads are not seen, for there is nothing to
 * hook, or the program has functions of its own in its place and may have
 * looked the library's up before.
 */
static _Bool find_all(struct hooks *k, const struct list *objects)
{
	_Bool own[HOOKS] = {0}, none;

	for (unsigned i = 0; i < HOOKS; i++)
		k->bound[i].real = object_symbol(objects, k->bound[i].name,
						 &own[i]);
	k->self = object_symbol(objects, "pthread_self", &none);
	k->attr_mask = object_symbol(objects, "pthread_attr_getsigmask_np",
				     &none);
	return k->bound[HOOK_PTHREAD_CREATE].real &&
	       !own[HOOK_PTHREAD_CREATE] && !own[HOOK_THRD_CREATE];
}

_Bool hooks_begin(const struct launch_env *h, uintptr_t *stack)
{
	struct counting *c = h->counting;
	struct list objects = {0};
	struct hooks *k;
	_Bool threads, forks;

	if (!c->image.n || !objects_find(c, stack, &objects))
		return 0;
	k = room_take(c, sizeof *k);
	if (!k)
		return 0;
	k->launch_env = h;
	bind_all(k->bound);
	threads = find_all(k, &objects);
	c->hooks = k;
	forks = follow_forks(&objects);
	follow_exit(&objects);
	return rebind(c, &objects, k->bound, HOOKS) && threads && forks &&
	       !has_threads(&objects);
}
