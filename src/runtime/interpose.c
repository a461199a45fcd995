/* interpose: see hooks.h. */
#include "runtime/interpose.h"

/* not inlined: a table of addresses would need to be relocated */
__attribute__((noinline)) static void bind(struct binding *b, const char *name,
					   void *ours)
{
	*b = (struct binding){name, (uintptr_t)ours, 0};
}

/* those that have the C library call the program in a thread */
static void bind_notify(struct binding *b)
{
	bind(&b[INTERPOSE_TIMER_CREATE], "timer_create",
	     interpose_timer_create);
	bind(&b[INTERPOSE_MQ_NOTIFY], "mq_notify", interpose_mq_notify);
	bind(&b[INTERPOSE_GETADDRINFO_A], "getaddrinfo_a",
	     interpose_getaddrinfo_a);
	bind(&b[INTERPOSE_AIO_READ], "aio_read", interpose_aio_read);
	bind(&b[INTERPOSE_AIO_READ64], "aio_read64", interpose_aio_read);
	bind(&b[INTERPOSE_AIO_WRITE], "aio_write", interpose_aio_write);
	bind(&b[INTERPOSE_AIO_WRITE64], "aio_write64", interpose_aio_write);
	bind(&b[INTERPOSE_AIO_FSYNC], "aio_fsync", interpose_aio_fsync);
	bind(&b[INTERPOSE_AIO_FSYNC64], "aio_fsync64", interpose_aio_fsync);
	bind(&b[INTERPOSE_LIO_LISTIO], "lio_listio", interpose_lio_listio);
	bind(&b[INTERPOSE_LIO_LISTIO64], "lio_listio64", interpose_lio_listio);
}

/* those that set handlers */
static void bind_signals(struct binding *b)
{
	bind(&b[INTERPOSE_SIGACTION], "sigaction", interpose_sigaction);
	bind(&b[INTERPOSE_SIGACTION_ALIAS], "__sigaction", interpose_sigaction);
	bind(&b[INTERPOSE_SIGNAL], "signal", interpose_signal);
	bind(&b[INTERPOSE_SIGNAL_BSD], "bsd_signal", interpose_signal);
	bind(&b[INTERPOSE_SIGNAL_S], "ssignal", interpose_signal);
	bind(&b[INTERPOSE_SYSV_SIGNAL], "sysv_signal", interpose_sysv_signal);
	bind(&b[INTERPOSE_SYSV_SIGNAL_ALIAS], "__sysv_signal",
	     interpose_sysv_signal);
	bind(&b[INTERPOSE_SIGSET], "sigset", interpose_sigset);
}

/* those of system calls that are functions of their own */
static void bind_calls(struct binding *b)
{
	bind(&b[INTERPOSE_SYSCALL], "syscall", interpose_syscall);
	bind(&b[INTERPOSE_PRCTL], "prctl", interpose_prctl);
	bind(&b[INTERPOSE_CHROOT], "chroot", interpose_chroot);
	bind(&b[INTERPOSE_SETUID], "setuid", interpose_setuid);
	bind(&b[INTERPOSE_SETEUID], "seteuid", interpose_seteuid);
	bind(&b[INTERPOSE_SETREUID], "setreuid", interpose_setreuid);
	bind(&b[INTERPOSE_SETRESUID], "setresuid", interpose_setresuid);
	bind(&b[INTERPOSE_SETGID], "setgid", interpose_setgid);
	bind(&b[INTERPOSE_SETEGID], "setegid", interpose_setegid);
	bind(&b[INTERPOSE_SETRESGID], "setresgid", interpose_setresgid);
	bind(&b[INTERPOSE_UNSHARE], "unshare", interpose_unshare);
	bind(&b[INTERPOSE_SETNS], "setns", interpose_setns);
}

static void bind_all(struct binding *b)
{
	bind(&b[INTERPOSE_PTHREAD_CREATE], "pthread_create",
	     interpose_pthread_create);
	bind(&b[INTERPOSE_THRD_CREATE], "thrd_create", interpose_thrd_create);
	bind(&b[INTERPOSE_CLONE], "clone", interpose_clone);
	bind(&b[INTERPOSE_FORK], "_Fork", interpose_fork);
	bind(&b[INTERPOSE_DAEMON], "daemon", interpose_daemon);
	bind(&b[INTERPOSE_EXIT], "_exit", interpose_exit);
	bind(&b[INTERPOSE_EXIT_C], "_Exit", interpose_exit);
	bind(&b[INTERPOSE_EXECVE], "execve", interpose_execve);
	bind(&b[INTERPOSE_EXECV], "execv", interpose_execv);
	bind(&b[INTERPOSE_EXECVP], "execvp", interpose_execvp);
	bind(&b[INTERPOSE_EXECVPE], "execvpe", interpose_execvpe);
	bind(&b[INTERPOSE_FEXECVE], "fexecve", interpose_fexecve);
	bind(&b[INTERPOSE_EXECVEAT], "execveat", interpose_execveat);
	bind(&b[INTERPOSE_EXECL], "execl", interpose_execl);
	bind(&b[INTERPOSE_EXECLP], "execlp", interpose_execlp);
	bind(&b[INTERPOSE_EXECLE], "execle", interpose_execle);
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
		return !glibc(interpose_fork_begins, interpose_fork_parent,
			      interpose_fork_child, NULL);
	return others && !others(interpose_fork_begins, interpose_fork_parent,
				 interpose_fork_child);
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
		at_quick_exit =
			(void *)object_symbol(objects, "at_quick_exit", &own);
	if (at_exit)
		at_exit(interpose_at_exit, NULL, NULL);
	if (at_quick_exit)
		at_quick_exit(interpose_at_exit, NULL);
}

/* has a library made a thread already? As far as the C library tells */
static _Bool has_threads(const struct list *objects)
{
	const char *single = object_data(objects, "__libc_single_threaded");

	return single && !*single;
}

/*
 * Finds what is is_interposed. False: threads are not seen, for there is
 * nothing to interposed, or the program has functions of its own in its place
 * and may have looked the library's up before.
 */
static _Bool find_all(struct interposed *k, const struct list *objects)
{
	_Bool own[HOOKS] = {0}, none;

	for (unsigned i = 0; i < HOOKS; i++)
		k->bound[i].real =
			object_symbol(objects, k->bound[i].name, &own[i]);
	k->self = object_symbol(objects, "pthread_self", &none);
	k->attr_mask =
		object_symbol(objects, "pthread_attr_getsigmask_np", &none);
	return k->bound[INTERPOSE_PTHREAD_CREATE].real &&
	       !own[INTERPOSE_PTHREAD_CREATE] && !own[INTERPOSE_THRD_CREATE];
}

_Bool interpose_begin(const struct launch_env *h, uintptr_t *stack)
{
	struct counting *c = h->counting;
	struct list objects = {0};
	struct interposed *k;
	_Bool threads, forks;

	if (!c->image.n || !objects_find(c, stack, &objects))
		return 0;
	k = room_take(c, sizeof *k);
	if (!k)
		return 0;
	k->launch_env = h;
	bind_all(k->bound);
	threads = find_all(k, &objects);
	c->interposed = k;
	forks = follow_forks(&objects);
	follow_exit(&objects);
	return rebind(c, &objects, k->bound, HOOKS) && threads && forks &&
	       !has_threads(&objects);
}
