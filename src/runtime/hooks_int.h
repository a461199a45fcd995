/*
 * hooks_int: what the files of hooks share.
 *
 *	hooks.c         which functions are hooked
 *	hook_threads.c  threads
 *	hook_notify.c   threads that the C library makes by itself
 *	hook_forks.c    children
 *	hook_ends.c     how processes end
 *	hook_signals.c  handlers
 *	hook_calls.c    system calls that gates would have told of
 */
#ifndef RUNTIME_HOOKS_INT_H
#define RUNTIME_HOOKS_INT_H

#include "runtime/hooks.h"
#include "runtime/rebind.h"

enum hook {
	HOOK_PTHREAD_CREATE,
	HOOK_THRD_CREATE,
	HOOK_TIMER_CREATE,
	HOOK_MQ_NOTIFY,
	HOOK_GETADDRINFO_A,
	HOOK_AIO_READ, /* each has the same by another name */
	HOOK_AIO_READ64,
	HOOK_AIO_WRITE,
	HOOK_AIO_WRITE64,
	HOOK_AIO_FSYNC,
	HOOK_AIO_FSYNC64,
	HOOK_LIO_LISTIO,
	HOOK_LIO_LISTIO64,
	HOOK_CLONE,
	HOOK_FORK, /* _Fork(), which calls no handlers */
	HOOK_DAEMON,
	HOOK_EXIT,
	HOOK_EXIT_C, /* _Exit() */
	HOOK_EXECVE,
	HOOK_EXECV,
	HOOK_EXECVP,
	HOOK_EXECVPE,
	HOOK_FEXECVE,
	HOOK_EXECVEAT,
	HOOK_EXECL,
	HOOK_EXECLP,
	HOOK_EXECLE,
	HOOK_SIGACTION,
	HOOK_SIGACTION_ALIAS, /* __sigaction() */
	HOOK_SIGNAL,
	HOOK_SIGNAL_BSD, /* bsd_signal() and ssignal() are the same */
	HOOK_SIGNAL_S,
	HOOK_SYSV_SIGNAL,
	HOOK_SYSV_SIGNAL_ALIAS,
	HOOK_SIGSET,
	HOOK_SYSCALL,
	HOOK_PRCTL,
	HOOK_CHROOT,
	HOOK_SETUID,
	HOOK_SETEUID,
	HOOK_SETREUID,
	HOOK_SETRESUID,
	HOOK_SETGID,
	HOOK_SETEGID,
	HOOK_SETRESGID,
	HOOK_UNSHARE,
	HOOK_SETNS,
	HOOKS,
};


struct hooks {
	struct binding bound[HOOKS];
	const struct launch_env *launch_env;
	/* pthread_self(), pthread_attr_getsigmask_np(); 0: there is none */
	uintptr_t self, attr_mask;
	struct thread_start *start; /* routines that are free */
	struct hook_fork *fork; /* children that are being made, or were */
	uintptr_t daemon; /* a thread that has called daemon(), or 0 */
};

/* what is hooked, as the library has it */
static inline void *hook_real(const struct counting *c, enum hook h)
{
	return (void *)c->hooks->bound[h].real;
}

/* their addresses are taken, which takes no table then */
#pragma GCC visibility push(hidden)

/* --- hook_threads.c: in the place of functions of the same names */
int hook_pthread_create(void *thread, const void *attr, void *routine,
			void *arg);
int hook_thrd_create(void *thread, void *routine, void *arg);
int hook_clone(void *routine, void *stack, int flags, void *arg, void *parent,
	       void *tls, void *child);
/*
 * The argument with which any number of threads may begin with thread_starts()
 * that are to run the routine; 0: there is no memory
 */
uintptr_t hook_thread_made(struct counting *c, uintptr_t routine,
			   uintptr_t arg);
/* entry.S: calls thread_routine() in a new thread, and becomes its routine */
void thread_starts(void);

/* --- hook_notify.c */
struct hook_event;
struct hook_aio;
int hook_timer_create(int clock, const struct hook_event *event, void *timer);
int hook_mq_notify(int queue, const struct hook_event *event);
int hook_getaddrinfo_a(int mode, void *list, int n,
		       const struct hook_event *event);
int hook_aio_read(struct hook_aio *aio);
int hook_aio_write(struct hook_aio *aio);
int hook_aio_fsync(int how, struct hook_aio *aio);
int hook_lio_listio(int mode, struct hook_aio **list, int n,
		    const struct hook_event *event);

/* --- hook_forks.c */
int hook_fork(void);
int hook_daemon(int nochdir, int noclose);
/* handlers around fork(): before it, and behind it in both processes */
void hook_fork_begins(void);
void hook_fork_parent(void);
void hook_fork_child(void);
/* the second of them with what is known of its success */
void hook_fork_result(long result);

/* --- hook_ends.c */
void hook_exit(int status);
/* what exit() calls last */
void hook_at_exit(void *unused);
long hook_execve(const char *path, char **argv, char **envp);
long hook_execv(const char *path, char **argv);
long hook_execvp(const char *path, char **argv);
long hook_execvpe(const char *path, char **argv, char **envp);
long hook_fexecve(int fd, char **argv, char **envp);
long hook_execveat(int dir, const char *path, char **argv, char **envp,
		   int flags);
long hook_execl(const char *path, ...);
long hook_execlp(const char *path, ...);
long hook_execle(const char *path, ...);

/* --- hook_signals.c */
struct hook_action;
int hook_sigaction(int signal, const struct hook_action *act,
		   struct hook_action *old);
uintptr_t hook_signal(int signal, uintptr_t handler);
uintptr_t hook_sysv_signal(int signal, uintptr_t handler);
uintptr_t hook_sigset(int signal, uintptr_t handler);

/* --- hook_calls.c */
/* clone() was asked for something that we cannot be told of */
void hook_clone_unseen(struct counting *c, uint64_t flags);
long hook_syscall(long nr, long a, long b, long c, long d, long e, long f);
int hook_prctl(int option, long a, long b, long c, long d);
long hook_chroot(long path);
long hook_setuid(long id);
long hook_seteuid(long id);
long hook_setreuid(long real, long effective);
long hook_setresuid(long real, long effective, long saved);
long hook_setgid(long id);
long hook_setegid(long id);
long hook_setresgid(long real, long effective, long saved);
long hook_unshare(long flags);
long hook_setns(long fd, long flags);

#pragma GCC visibility pop

#endif
