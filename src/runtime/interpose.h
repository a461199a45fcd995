/*
 * interpose: threads, children and ends of a program whose C library is as it
 * was, and has no hooks: one that is run by hand, or has musl's. The library's
 * own functions are bound to ours (rebind.h), which do what hooks would have
 * and call them.
 *
 *	pthread_create, thrd_create   the new thread gets a block before its
 *	                              routine runs (threads.c)
 *	fork and what calls it        the child gets counters before anything
 *	                              of the program runs in it (forks.c)
 *	exit, _exit, execve ..        how the process ends is noted (exits.c)
 *	sigaction, signal ..          no handler runs within an increment
 *	                              (signals.c)
 *	syscall, prctl, chroot ..     what hooks report (counting.c): above
 *	                              all that it locks itself in
 *
 * What calls them (a library, a plugin that is loaded later) does not matter.
 * Threads that are made in other ways share counters with others.
 *
 *	interpose.c          which functions are interposed
 *	interpose_threads.c  threads
 *	interpose_notify.c   threads that the C library makes by itself
 *	interpose_forks.c    children
 *	interpose_exits.c    how processes end
 *	interpose_signals.c  handlers
 *	interpose_calls.c    system calls that hooks would have reported
 */
#ifndef RUNTIME_INTERPOSE_H
#define RUNTIME_INTERPOSE_H

#include "runtime/counting.h"
#include "runtime/rebind.h"

/*
 * Requires: h->counting; a loader has loaded the program, which is the first
 * image, and it has not begun yet. `stack`: as the kernel left it. False: not
 * all is seen.
 */
_Bool interpose_begin(const struct launch_env *h, uintptr_t *stack);

enum interposed_call {
	INTERPOSE_PTHREAD_CREATE,
	INTERPOSE_THRD_CREATE,
	INTERPOSE_TIMER_CREATE,
	INTERPOSE_MQ_NOTIFY,
	INTERPOSE_GETADDRINFO_A,
	INTERPOSE_AIO_READ, /* each has the same by another name */
	INTERPOSE_AIO_READ64,
	INTERPOSE_AIO_WRITE,
	INTERPOSE_AIO_WRITE64,
	INTERPOSE_AIO_FSYNC,
	INTERPOSE_AIO_FSYNC64,
	INTERPOSE_LIO_LISTIO,
	INTERPOSE_LIO_LISTIO64,
	INTERPOSE_CLONE,
	INTERPOSE_FORK, /* _Fork(), which calls no handlers */
	INTERPOSE_DAEMON,
	INTERPOSE_EXIT,
	INTERPOSE_EXIT_C, /* _Exit() */
	INTERPOSE_EXECVE,
	INTERPOSE_EXECV,
	INTERPOSE_EXECVP,
	INTERPOSE_EXECVPE,
	INTERPOSE_FEXECVE,
	INTERPOSE_EXECVEAT,
	INTERPOSE_EXECL,
	INTERPOSE_EXECLP,
	INTERPOSE_EXECLE,
	INTERPOSE_SIGACTION,
	INTERPOSE_SIGACTION_ALIAS, /* __sigaction() */
	INTERPOSE_SIGNAL,
	INTERPOSE_SIGNAL_BSD, /* bsd_signal() and ssignal() are the same */
	INTERPOSE_SIGNAL_S,
	INTERPOSE_SYSV_SIGNAL,
	INTERPOSE_SYSV_SIGNAL_ALIAS,
	INTERPOSE_SIGSET,
	INTERPOSE_SYSCALL,
	INTERPOSE_PRCTL,
	INTERPOSE_CHROOT,
	INTERPOSE_SETUID,
	INTERPOSE_SETEUID,
	INTERPOSE_SETREUID,
	INTERPOSE_SETRESUID,
	INTERPOSE_SETGID,
	INTERPOSE_SETEGID,
	INTERPOSE_SETRESGID,
	INTERPOSE_UNSHARE,
	INTERPOSE_SETNS,
	HOOKS,
};

struct interposed {
	struct binding bound[HOOKS];
	const struct launch_env *launch_env;
	/* pthread_self(), pthread_attr_getsigmask_np(); 0: there is none */
	uintptr_t self, attr_mask;
	struct thread_start *start;  /* routines that are free */
	struct interpose_fork *fork; /* children that are being made, or were */
	uintptr_t daemon; /* a thread that has called daemon(), or 0 */
};

/* what is is_interposed, as the library has it */
static inline void *interpose_real(const struct counting *c,
				   enum interposed_call h)
{
	return (void *)c->interposed->bound[h].real;
}

/* their addresses are taken, which takes no table then */
#pragma GCC visibility push(hidden)

/* --- interpose_threads.c: in the place of functions of the same names */
int interpose_pthread_create(void *thread, const void *attr, void *routine,
			     void *arg);
int interpose_thrd_create(void *thread, void *routine, void *arg);
int interpose_clone(void *routine, void *stack, int flags, void *arg,
		    void *parent, void *tls, void *child);
/*
 * The argument with which any number of threads may begin with thread_starts()
 * that are to run the routine; 0: there is no memory
 */
uintptr_t interpose_thread_made(struct counting *c, uintptr_t routine,
				uintptr_t arg);
/* entry.S: calls thread_routine() in a new thread, and becomes its routine */
void thread_starts(void);

/* --- interpose_notify.c */
struct interpose_event;
struct interpose_aio;
int interpose_timer_create(int clock, const struct interpose_event *event,
			   void *timer);
int interpose_mq_notify(int queue, const struct interpose_event *event);
int interpose_getaddrinfo_a(int mode, void *list, int n,
			    const struct interpose_event *event);
int interpose_aio_read(struct interpose_aio *aio);
int interpose_aio_write(struct interpose_aio *aio);
int interpose_aio_fsync(int how, struct interpose_aio *aio);
int interpose_lio_listio(int mode, struct interpose_aio **list, int n,
			 const struct interpose_event *event);

/* --- interpose_forks.c */
int interpose_fork(void);
int interpose_daemon(int nochdir, int noclose);
/* handlers around fork(): before it, and behind it in both processes */
void interpose_fork_begins(void);
void interpose_fork_parent(void);
void interpose_fork_child(void);
/* the second of them with what is known of its success */
void interpose_fork_result(long result);

/* --- interpose_exits.c */
void interpose_exit(int status);
/* what exit() calls last */
void interpose_at_exit(void *unused);
long interpose_execve(const char *path, char **argv, char **envp);
long interpose_execv(const char *path, char **argv);
long interpose_execvp(const char *path, char **argv);
long interpose_execvpe(const char *path, char **argv, char **envp);
long interpose_fexecve(int fd, char **argv, char **envp);
long interpose_execveat(int dir, const char *path, char **argv, char **envp,
			int flags);
long interpose_execl(const char *path, ...);
long interpose_execlp(const char *path, ...);
long interpose_execle(const char *path, ...);

/* --- interpose_signals.c */
struct interpose_action;
int interpose_sigaction(int signal, const struct interpose_action *act,
			struct interpose_action *old);
uintptr_t interpose_signal(int signal, uintptr_t handler);
uintptr_t interpose_sysv_signal(int signal, uintptr_t handler);
uintptr_t interpose_sigset(int signal, uintptr_t handler);

/* --- interpose_calls.c */
/* clone() was asked for something that we cannot be told of */
void interpose_clone_unseen(struct counting *c, uint64_t flags);
long interpose_syscall(long nr, long a, long b, long c, long d, long e, long f);
int interpose_prctl(int option, long a, long b, long c, long d);
long interpose_chroot(long path);
long interpose_setuid(long id);
long interpose_seteuid(long id);
long interpose_setreuid(long real, long effective);
long interpose_setresuid(long real, long effective, long saved);
long interpose_setgid(long id);
long interpose_setegid(long id);
long interpose_setresgid(long real, long effective, long saved);
long interpose_unshare(long flags);
long interpose_setns(long fd, long flags);

#pragma GCC visibility pop

#endif
