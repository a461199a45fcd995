/*
 * hand WORD [ARGUMENT]: threads and children, made in every way that a C
 * library has. Every run of a word does the same, and says so by its status;
 * what the others do is not waited for by looking again and again.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* musl's compiler does not find the kernel's */
#ifdef __GLIBC__
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

enum { THREADS = 8, TURNS = 20000, MANY = 300 };

/* what is counted: the volatile keeps the compiler from being clever */
__attribute__((noinline)) void work(volatile long *x)
{
	++*x;
}

__attribute__((noinline)) void work_times(long n)
{
	volatile long x = 0;

	for (long i = 0; i < n; i++)
		work(&x);
}

static void must(int is, int status)
{
	if (!is)
		_exit(status);
}

static void *in_thread(void *arg)
{
	work_times((long)arg);
	return arg;
}

static pthread_barrier_t barrier;

static void *at_once(void *arg)
{
	pthread_barrier_wait(&barrier);
	return in_thread(arg);
}

/* n at once, and this one */
static void threads(int n)
{
	pthread_t t[THREADS];
	void *result;

	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (long i = 0; i < n; i++)
		must(!pthread_create(&t[i], NULL, at_once,
				     (void *)(TURNS + i)), 90);
	at_once((void *)77);
	for (long i = 0; i < n; i++)
		must(!pthread_join(t[i], &result) &&
		     result == (void *)(TURNS + i), 91);
}

/* one after the other */
static void many(void)
{
	pthread_t t;

	for (long i = 0; i < MANY; i++)
		must(!pthread_create(&t, NULL, in_thread, (void *)(i + 1)) &&
		     !pthread_join(t, NULL), 90);
}

static int in_c11(void *arg)
{
	work_times((long)arg);
	return -(int)(long)arg;
}

static void c11(void)
{
	thrd_t t[THREADS];
	int result;

	for (long i = 0; i < THREADS; i++)
		must(thrd_create(&t[i], in_c11, (void *)(TURNS + i)) ==
		     thrd_success, 90);
	for (long i = 0; i < THREADS; i++)
		must(thrd_join(t[i], &result) == thrd_success &&
		     result == -(TURNS + (int)i), 91);
}

/* main() is over before they are */
static void outlive(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (long i = 0; i < THREADS; i++)
		must(!pthread_create(&t, &attr, in_thread,
				     (void *)(TURNS + i)), 90);
	pthread_exit(NULL);
}

static pthread_key_t key;

/* of a thread's variable: called while it ends, and once more */
static void destroy(void *value)
{
	work_times((long)value);
	if ((long)value > 1000)
		pthread_setspecific(key, (void *)((long)value - 1000));
}

static void cleanup(void *arg)
{
	work_times((long)arg);
}

static sem_t ready;

static void *ends_early(void *how)
{
	pthread_setspecific(key, (void *)2222);
	pthread_cleanup_push(cleanup, (void *)333);
	work_times(4444);
	if (!how)
		pthread_exit((void *)5);
	sem_post(&ready);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

/* threads that end by pthread_exit(), or because another wants it */
static void early(int cancelled)
{
	pthread_t t[THREADS];
	void *result;

	pthread_key_create(&key, destroy);
	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&t[i], NULL, ends_early,
				     (void *)(long)cancelled), 90);
	for (int i = 0; i < THREADS; i++) {
		if (cancelled) {
			sem_wait(&ready);
			must(!pthread_cancel(t[i]), 92);
		}
	}
	for (int i = 0; i < THREADS; i++)
		must(!pthread_join(t[i], &result) &&
		     result == (cancelled ? PTHREAD_CANCELED : (void *)5), 91);
}

/* a library that makes threads, which call back; and this by its address */
static void plugin(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	int (*start)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		     void *) = (void *)dlsym(RTLD_DEFAULT, "pthread_create");
	void (*run)(void *(*)(void *), void *, int);
	pthread_t t;

	must(lib && start, 93);
	run = (void *)dlsym(lib, "plugin_run");
	run(in_thread, (void *)TURNS, THREADS);
	must(!start(&t, NULL, in_thread, (void *)TURNS) &&
	     !pthread_join(t, NULL), 90);
	dlclose(lib);
}

static sigset_t seen;

static void *see_mask(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, &seen);
	return arg;
}

/* a thread blocks the signals that its jit_process blocks, or an attribute says
 */
static void masks(void)
{
	pthread_attr_t attr;
	sigset_t own, given;
	pthread_t t;

	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	must(!pthread_create(&t, NULL, see_mask, NULL) &&
	     !pthread_join(t, NULL) && sigismember(&seen, SIGUSR1) == 1 &&
	     !sigismember(&seen, SIGUSR2), 94);
	pthread_sigmask(SIG_SETMASK, NULL, &seen);
	must(sigismember(&seen, SIGUSR1) == 1 && !sigismember(&seen, SIGUSR2),
	     95);
	pthread_attr_init(&attr);
	sigfillset(&given);
	sigdelset(&given, SIGUSR1);
#ifdef PTHREAD_ATTR_NO_SIGMASK_NP
	must(!pthread_attr_setsigmask_np(&attr, &given) &&
	     !pthread_create(&t, &attr, see_mask, NULL) &&
	     !pthread_join(t, NULL) && !sigismember(&seen, SIGUSR1) &&
	     sigismember(&seen, SIGUSR2) == 1, 96);
	sigfillset(&given);
	must(!pthread_attr_setsigmask_np(&attr, &given) &&
	     !pthread_create(&t, &attr, see_mask, NULL) &&
	     !pthread_join(t, NULL) && sigismember(&seen, SIGUSR1) == 1 &&
	     sigismember(&seen, SIGUSR2) == 1, 97);
#endif
}

static void wait_for(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid && !status, 97);
}

/* a tree of processes, each works more than its parent */
static void tree(int depth)
{
	for (int i = 0; i < 2 && depth; i++) {
		pid_t pid = fork();

		must(pid >= 0, 98);
		if (!pid) {
			work_times(100 * depth + i);
			tree(depth - 1);
			if (depth & 1)
				exit(0);
			_exit(0);
		}
		work_times(7);
		wait_for(pid);
	}
}

static void *forks(void *has_threads)
{
	pid_t pid = fork();

	must(pid >= 0, 98);
	work_times(1000);
	if (!pid) {
		if (has_threads)
			threads(2);
		pthread_exit(NULL);
	}
	wait_for(pid);
	return NULL;
}

/* children of threads, while others work; perhaps with threads of their own */
static void thread_forks(int have_threads)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&t[i], NULL, i & 1 ? forks : in_thread,
				     (void *)(long)have_threads), 90);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void before(void)
{
	work_times(11);
}

static void in_parent(void)
{
	work_times(13);
}

static void in_child(void)
{
	work_times(17);
}

/* the program has handlers of its own around fork() */
static void handlers(void)
{
	pthread_atfork(before, in_parent, in_child);
	tree(2);
}

/* a process that is nobody's child, until it has ended */
static void background(void)
{
	int ends[2];
	char none;
	pid_t pid;

	must(!pipe(ends), 99);
	pid = fork();
	if (!pid) {
		work_times(2000);
		must(!daemon(1, 1), 99);
		work_times(3000);
		exit(0);
	}
	close(ends[1]);
	wait_for(pid);
	must(!read(ends[0], &none, 1), 99);
}

/* other functions that fork */
static void others(void)
{
	int fd, status;
	pid_t pid = forkpty(&fd, NULL, NULL, NULL);

	work_times(1000);
	if (!pid)
		_exit(0);
	wait_for(pid);
	close(fd);
	must(!system("exit 0"), 99);
	background();
	pid = vfork();
	if (!pid)
		_exit(3);
	must(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3, 99);
}

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define HAS_FORK
#endif
#endif

/* the one that calls no handlers */
static void raw(void)
{
#ifdef HAS_FORK
	pid_t pid = _Fork();

	work_times(1000);
	if (!pid)
		_exit(0);
	wait_for(pid);
#endif
}

static void rings(union sigval turns)
{
	work_times(turns.sival_int);
	sem_post(&ready);
}

/* threads that the C library makes when time is over */
static void timers(void)
{
	struct itimerspec soon = {.it_value = {0, 1000}};
	struct sigevent e = {.sigev_notify = SIGEV_THREAD,
			     .sigev_notify_function = rings,
			     .sigev_value.sival_int = TURNS};
	timer_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		must(!timer_create(CLOCK_MONOTONIC, &e, &t[i]) &&
		     !timer_settime(t[i], 0, &soon, NULL), 90);
	for (int i = 0; i < THREADS; i++)
		sem_wait(&ready);
}

/* the same when something is written */
static void writes(void)
{
	static char byte = 'x';
	struct aiocb a = {
		.aio_fildes = open("/dev/null", O_WRONLY),
		.aio_buf = &byte,
		.aio_nbytes = 1,
		.aio_sigevent = {.sigev_notify = SIGEV_THREAD,
				 .sigev_notify_function = rings,
				 .sigev_value.sival_int = TURNS},
	};

	must(!aio_write(&a), 90);
	sem_wait(&ready);
}

static volatile sig_atomic_t arrived;

static void arrives(int signal)
{
	(void)signal;
	work_times(3);
	arrived = arrived + 1;
}

static void arrives_with(int signal, siginfo_t *info, void *context)
{
	must(info && info->si_signo == signal && context, 94);
	arrives(signal);
}

/* works until so many signals have arrived, and says how often */
static long among_signals(int n)
{
	struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	long done = 0;

	arrived = 0;
	setitimer(ITIMER_REAL, &every, NULL);
	while (arrived < n) {
		work_times(100);
		done += 100;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return done + 3 * arrived;
}

/* handlers that interrupt what they do themselves; who asks sees them */
static void signals(void)
{
	struct sigaction a = {.sa_sigaction = arrives_with,
			      .sa_flags = SA_SIGINFO | SA_RESTART}, b;
	long done;

	must(signal(SIGALRM, arrives) == SIG_DFL, 90);
	done = among_signals(200);
	must(!sigaction(SIGALRM, NULL, &b) && b.sa_handler == arrives &&
	     b.sa_flags & SA_RESTART && !(b.sa_flags & SA_SIGINFO), 91);
	must(!sigaction(SIGALRM, &a, &b) && b.sa_handler == arrives, 92);
	done += among_signals(200);
	must(signal(SIGALRM, SIG_IGN) == (void (*)(int))arrives_with, 93);
	must(signal(SIGALRM, SIG_DFL) == SIG_IGN, 95);
	a.sa_flags = SA_SIGINFO | SA_RESETHAND;
	must(!sigaction(SIGUSR1, &a, NULL) && !raise(SIGUSR1), 96);
	must(!sigaction(SIGUSR1, NULL, &b) && b.sa_handler == SIG_DFL, 97);
	printf("%ld\n", done + 3);
	fflush(stdout);
	_exit(0);
}

#ifdef OWN
/* in the place of the C library's, which it has looked up before main() */
static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		   void *);

__attribute__((constructor)) static void look_up(void)
{
	real = (void *)dlsym(RTLD_NEXT, "pthread_create");
}

int pthread_create(pthread_t *t, const pthread_attr_t *attr,
		   void *(*routine)(void *), void *arg)
{
	return real(t, attr, routine, arg);
}
#endif

static int cloned(void *arg)
{
	work_times((long)arg);
	return 7;
}

/* a process that begins with a function, on a stack of its own */
static void clones(void)
{
	static _Alignas(16) char stack[1 << 16];
	int status;
	pid_t pid = clone(cloned, stack + sizeof stack, SIGCHLD,
			  (void *)2000);

	work_times(100);
	must(pid > 0 && waitpid(pid, &status, 0) == pid &&
	     WEXITSTATUS(status) == 7, 97);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	work_times(3000);
	if (!pid)
		_exit(0);
	wait_for(pid);
}

/* a thread that only the kernel knows */
static void clone_thread(void)
{
	static _Alignas(16) char stack[1 << 16];
	int status;
	pid_t pid = clone(cloned, stack + sizeof stack,
			  CLONE_VM | CLONE_FILES | SIGCHLD, (void *)100);

	must(pid > 0 && waitpid(pid, &status, 0) == pid &&
	     WEXITSTATUS(status) == 7, 97);
}

/* executes a program, and fails to, in all ways */
static void executes(const char *name)
{
	char *argv[] = {(char *)name, "quick", NULL}, *none[] = {NULL};

	for (int way = 0; way < 5; way++) {
		pid_t pid = fork();

		if (!pid) {
			work_times(100);
			execl("/none", "none", "a", "b", "c", "d", "e", "f",
			      "g", "h", NULL);
			execve("/none/at/all", argv, none);
			work_times(10);
			if (way == 0)
				execv(name, argv);
			else if (way == 1)
				execl(name, name, "quick", NULL);
			else if (way == 2)
				execle(name, name, "quick", NULL, none);
			else if (way == 3)
				execlp(name, name, "quick", NULL);
			else
				execvp(name, argv);
			_exit(1);
		}
		wait_for(pid);
	}
}

#ifdef __GLIBC__
/* what C libraries call for threads, children and ends */
static const int allowed[] = {
	SYS_write, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_brk,
	SYS_clone, SYS_clone3, SYS_rt_sigprocmask, SYS_set_robust_list,
	SYS_futex, SYS_exit, SYS_exit_group, SYS_wait4, SYS_rt_sigreturn,
#ifdef SYS_rseq
	SYS_rseq,
#endif
};

/* ends the process if it calls anything else from now on */
static void lock_in(int by_syscall)
{
	enum { N = sizeof allowed / sizeof *allowed };
	struct sock_filter f[N + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog p = {N + 3, f};

	for (unsigned char i = 0; i < N; i++)
		f[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
			(unsigned char)(N - i), 0);
	f[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						SECCOMP_RET_KILL_PROCESS);
	f[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						SECCOMP_RET_ALLOW);
	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 95);
	must(by_syscall ? !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				   &p) :
			  !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p), 96);
}

/* threads before it, threads and a child behind it */
static void locked(int by_syscall)
{
	pid_t pid;

	threads(3);
	lock_in(by_syscall);
	threads(2);
	pid = fork();
	if (!pid)
		_exit(0);
	wait_for(pid);
}

#else
static void locked(int by_syscall)
{
	(void)by_syscall;
}
#endif

/* becomes another program, which may be this one */
static void again(const char *name)
{
	work_times(40);
	execl(name, name, "quick", NULL);
	_exit(1);
}

static void at_the_end(void)
{
	work_times(500);
}

static void quick(void)
{
	at_quick_exit(at_the_end);
	quick_exit(0);
}

/* one of the words that need no argument; false: it is none */
static int plain(const char *word)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} words[] = {
		{"many", many}, {"c11", c11}, {"outlive", outlive},
		{"masks", masks}, {"handlers", handlers},
		{"others", others}, {"raw", raw}, {"clone", clones},
		{"quick", quick}, {"signals", signals},
		{"timers", timers}, {"clone-thread", clone_thread},
		{"writes", writes},
	};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i].word)) {
			words[i].run();
			return 1;
		}
	return 0;
}

__attribute__((destructor)) static void last(void)
{
	work_times(50);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const char *more = argc > 2 ? argv[2] : "";

	atexit(at_the_end);
	sem_init(&ready, 0, 0);
	if (plain(word))
		return 0;
	if (!strcmp(word, "threads"))
		threads(THREADS);
	else if (!strcmp(word, "exit"))
		early(0);
	else if (!strcmp(word, "cancel"))
		early(1);
	else if (!strcmp(word, "plugin"))
		plugin(more);
	else if (!strcmp(word, "thread-forks"))
		thread_forks(0);
	else if (!strcmp(word, "forks-threads"))
		thread_forks(1);
	else if (!strcmp(word, "tree"))
		tree(3);
	else if (!strcmp(word, "locked"))
		locked(*more == 's');
	else if (!strcmp(word, "again"))
		again(more);
	else if (!strcmp(word, "exec"))
		executes(more);
	else
		return 2;
	return 0;
}
