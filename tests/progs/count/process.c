/*
 * process WORD...: does what the words say, and calls work() as often as it
 * says on stdout: one line "PID N" per process, its own calls alone.
 *
 * Processes that end before they could say so are told by their parent.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* what is counted: the volatile keeps the compiler from being clever */
__attribute__((noinline)) void work(volatile int *x)
{
	++*x;
}

static _Atomic long done;

static void work_times(long n)
{
	volatile int x = 0;

	for (long i = 0; i < n; i++)
		work(&x);
	done += n;
}

/* without stdio: what forked children do not inherit unwritten */
static void say(void)
{
	char text[64];
	int n = snprintf(text, sizeof text, "%ld %ld\n", (long)getpid(),
			 (long)done);

	if (write(1, text, (size_t)n) != n)
		_exit(99);
}

static void *in_thread(void *arg)
{
	work_times((long)arg);
	return NULL;
}

static pthread_barrier_t all;

static void *at_once(void *arg)
{
	pthread_barrier_wait(&all);
	return in_thread(arg);
}

/* n threads at once, each `times` */
static void threads(int n, long times)
{
	pthread_t t[64];

	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, at_once, (void *)times))
			_exit(98);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		_exit(97);
}

/* a tree of processes, each works more than its parent */
static void tree(int depth)
{
	for (int i = 0; i < 2 && depth; i++) {
		pid_t pid = fork();

		if (!pid) {
			done = 0;
			work_times(100 * depth + i);
			tree(depth - 1);
			say();
			_exit(0);
		}
		work_times(7);
		wait_for(pid);
	}
}

/* a process made by a thread while others run */
static void *forks(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (!pid) {
		done = 0;
		work_times(321);
		say();
		_exit(0);
	}
	work_times(123);
	wait_for(pid);
	return NULL;
}

static void forks_in_threads(int n)
{
	pthread_t t[16], busy[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&busy[i], NULL, in_thread, (void *)200000L);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, forks, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(busy[i], NULL);
}

/* posix_spawn, vfork and system, of a program that counts nothing */
static void spawns(void)
{
	char *argv[] = {"true", NULL};
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
			_exit(96);
		wait_for(pid);
		work_times(11);
	}
	pid = vfork();
	if (!pid) {
		execvp("true", argv);
		_exit(95);
	}
	wait_for(pid);
	if (system("true"))
		_exit(94);
	work_times(11);
}

/* a library's answer(), loaded and unloaded again and again */
static void load(const char *file, int n)
{
	for (int i = 0; i < n; i++) {
		void *h = dlopen(file, RTLD_NOW);
		int (*answer)(void) = h ? (int (*)(void))dlsym(h, "answer") :
					  NULL;

		if (!answer || !answer())
			_exit(93);
		work_times(1);
		dlclose(h);
	}
}

static atomic_int stop;

static void *busy(void *arg)
{
	(void)arg;
	while (!stop)
		work_times(100);
	return NULL;
}

static void load_among_threads(const char *file, int n)
{
	pthread_t t[4];

	stop = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, busy, NULL);
	load(file, n);
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void *answers(void *arg)
{
	int (*answer)(void) = (int (*)(void))arg;

	for (int i = 0; i < 1000; i++)
		answer();
	return NULL;
}

/* answer() of a library that threads older than it call, too */
static void use(const char *file)
{
	pthread_t t[4], late[2];
	void *h;

	stop = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, busy, NULL);
	h = dlopen(file, RTLD_NOW);
	for (int i = 0; i < 2; i++)
		pthread_create(&late[i], NULL, answers, dlsym(h, "answer"));
	for (int i = 0; i < 2; i++)
		pthread_join(late[i], NULL);
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* the distance by which a thread finds its counters */
static long slot(void)
{
#ifdef __aarch64__
	char *tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
	return *(long *)(tp + 8);
#else
	long base;

	__asm__("rdgsbase %0" : "=r"(base));
	return base;
#endif
}

static int (*_Atomic late)(void);
static atomic_long slots[4], answered;

/* calls a library's answer(), once that is there */
static void *awaits(void *arg)
{
	*(atomic_long *)arg = slot();
	while (!stop) {
		work_times(10);
		if (late) {
			late();
			answered++;
		}
	}
	return NULL;
}

/* maps what is free within 64 MB of where a thread's counters would be */
static void crowd(char *around)
{
	enum { STEP = 1 << 18, STEPS = 256 };

	for (int i = -STEPS; i < STEPS; i++) {
		char *want = around + (long)i * STEP;
		char *got = mmap(want, STEP, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (got != want && got != MAP_FAILED)
			munmap(got, STEP);
	}
}

/* a library comes when there is no room for threads' counters of it */
static void use_crowded(const char *file)
{
	char *near = mmap(NULL, 1 << 20, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t[4];
	void *h;

	stop = 0;
	munmap(near, 1 << 20);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, awaits, &slots[i]);
	for (int i = 0; i < 4; i++) {
		while (!slots[i])
			sched_yield();
		crowd(near + slots[i]);
	}
	h = dlopen(file, RTLD_NOW);
	late = (int (*)(void))dlsym(h, "answer");
	while (answered < 2000)
		sched_yield();
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("answers %ld\n", (long)answered);
	fflush(stdout);
}

#ifdef __x86_64__
enum { SET_GS = 0x1001, GET_GS = 0x1004 };

/* uses gs for itself: nobody else seems to, and nobody disturbs it */
static void *take_gs(void *arg)
{
	long mine[64] = {0, 4711}, base = -1, seen;

	work_times(10);
	if (syscall(SYS_arch_prctl, GET_GS, &base) || base)
		_exit(94);
	if (syscall(SYS_arch_prctl, SET_GS, mine))
		_exit(94);
	work_times(10);
	__asm__ volatile("mov %%gs:8, %0" : "=r"(seen));
	if (seen != 4711 || syscall(SYS_arch_prctl, GET_GS, &base) ||
	    base != (long)mine)
		_exit(93);
	if (arg) {
		pthread_t t;

		pthread_create(&t, NULL, in_thread, (void *)50L);
		pthread_join(t, NULL);
	}
	__asm__ volatile("mov %%gs:8, %0" : "=r"(seen));
	if (seen != 4711)
		_exit(93);
	for (int i = 2; i < 64; i++)
		if (mine[i])
			_exit(93);
	syscall(SYS_arch_prctl, SET_GS, 0);
	return NULL;
}

/* in the first thread, and in another one */
static void take(void)
{
	pthread_t t;

	pthread_create(&t, NULL, take_gs, NULL);
	pthread_join(t, NULL);
	take_gs("");
}
#endif

static void limit(int which, rlim_t to)
{
	struct rlimit l = {to, to};

	if (setrlimit(which, &l))
		_exit(92);
}

/* the exit status says that descriptor 0 was taken */
static void status_lowest(void)
{
	_exit(88);
}

/* where open descriptors lead, on stderr */
static void list(void)
{
	char name[64], to[256];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t n;

		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		n = readlink(name, to, sizeof to - 1);
		if (n > 0)
			fprintf(stderr, "%d %.*s\n", fd, (int)n, to);
	}
}

static void run(char **w)
{
	for (; *w; w++) {
		if (!strcmp(*w, "work"))
			work_times(atol(*++w));
		else if (!strcmp(*w, "threads"))
			threads(atoi(w[1]), atol(w[2])), w += 2;
		else if (!strcmp(*w, "loop")) /* one thread after the other */
			for (long n = atol(*++w); n; n--)
				threads(1, 10);
		else if (!strcmp(*w, "tree"))
			tree(atoi(*++w));
		else if (!strcmp(*w, "forks"))
			forks_in_threads(atoi(*++w));
		else if (!strcmp(*w, "spawn"))
			spawns();
		else if (!strcmp(*w, "load"))
			load(w[1], atoi(w[2])), w += 2;
		else if (!strcmp(*w, "load-among"))
			load_among_threads(w[1], atoi(w[2])), w += 2;
		else if (!strcmp(*w, "use"))
			use(*++w);
		else if (!strcmp(*w, "use-crowded"))
			use_crowded(*++w);
		else if (!strcmp(*w, "list"))
			list();
#ifdef __x86_64__
		else if (!strcmp(*w, "take-gs"))
			take();
#endif
		else if (!strcmp(*w, "lowest")) {
			if (open("/dev/null", O_RDWR))
				atexit(status_lowest);
		} else if (!strcmp(*w, "wait"))
			for (w++; access(*w, F_OK);)
				usleep(10000);
		else if (!strcmp(*w, "say"))
			say();
		else if (!strcmp(*w, "_exit"))
			_exit(atoi(*++w));
		else if (!strcmp(*w, "abort"))
			abort();
		else if (!strcmp(*w, "kill"))
			raise(atoi(*++w));
		else if (!strcmp(*w, "forever"))
			for (;;)
				work_times(1000);
		else if (!strcmp(*w, "file-size"))
			limit(RLIMIT_FSIZE, (rlim_t)atol(*++w));
		else if (!strcmp(*w, "files"))
			limit(RLIMIT_NOFILE, (rlim_t)atol(*++w));
		else if (!strcmp(*w, "chroot")) {
			if (chroot(*++w) || chdir("/"))
				_exit(91);
		} else if (!strcmp(*w, "user")) {
			if (setuid((uid_t)atoi(*++w)))
				_exit(87);
		} else if (!strcmp(*w, "close")) {
			for (int fd = 3; fd < 2000; fd++)
				close(fd);
		} else if (!strcmp(*w, "exec-none")) {
			execv("/no/such/program", w);
		} else if (!strcmp(*w, "exec")) {
			execv(w[1], w + 1);
			_exit(90);
		} else
			_exit(89);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	run(argv + 1);
	return 0;
}
