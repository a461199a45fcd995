/*
 * ends WORD...: ends in the ways that the words say, after some work; each
 * word is done in order.
 *
 * Where it ended can be told afterwards from a file that is mapped: at places
 * that have a number an instruction stores how often it did so. The section
 * .marks lists these: the distance from there to the instruction, and the
 * number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 512, CREW = 4 }; /* words of marks for a thread, threads */

static volatile int sink;
static uint64_t *all_marks;
static __thread uint64_t *marks;

#ifdef __aarch64__
#define LOAD_ADD "ldr %0, [%1]\n add %0, %0, #1\n"
#define STORE "str %0, [%1]\n"
#else
#define LOAD_ADD "mov (%1), %0\n lea 1(%0), %0\n"
#define STORE "mov %0, (%1)\n"
#endif

/* the compiler may copy it: a section of the file lists them all */
#define MARK(n)                                                          \
	do {                                                             \
		uint64_t v_;                                             \
		__asm__ volatile(LOAD_ADD                                \
				 "1: " STORE                             \
				 ".pushsection .marks, \"a\"\n"          \
				 ".long 1b - ., " #n "\n"                \
				 ".popsection"                           \
				 : "=&r"(v_) : "r"(marks + n) : "memory"); \
	} while (0)

#define OWN __attribute__((noinline, noclone))

/* two that are sure to come back, one of them by way of the other */
OWN static long leaf(long n)
{
	long s = 0;

	MARK(0);
	for (long i = 0; i < n; i++) {
		s += i ^ (s << 1);
		if (s & 4)
			MARK(1);
		else
			MARK(2);
	}
	MARK(3);
	return s;
}

OWN static long middle(long n)
{
	long a = leaf(n);

	MARK(4);
	a += leaf(n & 1);
	MARK(5);
	return a;
}

OWN static long by_pointer(long n)
{
	MARK(6);
	return n ^ leaf(1);
}

static long (*volatile pointer)(long) = by_pointer;

OWN static void loop(long n)
{
	for (long i = 0; i != n; i++) {
		MARK(7);
		sink = (int)middle(i & 3);
		MARK(8);
		switch (i % 5) {
		case 0:
			sink = (int)pointer(i);
			MARK(9);
			break;
		case 1:
			MARK(10);
			break;
		case 2:
			sink += getpid();
			MARK(11);
			/* fall through */
		default:
			MARK(12);
		}
		MARK(13);
	}
}

static void map_marks(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0666);

	size_t size = CREW * PAGE * sizeof *marks;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		exit(99);
	all_marks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (all_marks == MAP_FAILED)
		exit(99);
	marks = all_marks;
	close(fd);
}

static void timer(long us)
{
	struct itimerval t = {.it_value = {us / 1000000, us % 1000000}};

	setitimer(ITIMER_REAL, &t, NULL);
}

/* a timer that is started by what it ends: others may be slow to get there */
static long due;

static void start_timer(void)
{
	if (due)
		timer(due);
}

/* --- at an instruction that is known */

OWN static void store(int *p, int v)
{
	sink = 1;
	*p = v;
	sink = 3;
}

OWN static int sum(const int *p, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += p[i] * 3;
	sink = s;
	return s + 1;
}

OWN static int sums(const int *p, int n)
{
	int a = sum(p, n);

	sink = a;
	a ^= sum(p + 1, n - 1);
	sink += 5;
	return a;
}

OWN static int deep(const int *p, int n)
{
	sink = n;
	return sums(p, n) + sums(p, n / 2);
}

static void write_to_nobody(void)
{
	int p[2];

	if (!pipe(p) && !close(p[0]) && write(p[1], "x", 1) != 1)
		sink = 7;
}

/* a child that ends so; its parent goes on */
static void in_child(int argc, char **argv);

/* --- what a program sees of its handlers */

static void handler(int n)
{
	sink = n;
}

static void action_is(const char *when, int n)
{
	struct sigaction a = {0};

	sigaction(n, NULL, &a);
	printf("%s: %s flags %#x mask %d%d\n", when,
	       a.sa_handler == SIG_DFL ? "default" :
	       a.sa_handler == SIG_IGN ? "ignored" :
	       a.sa_handler == handler ? "handler" : "?",
	       (unsigned)a.sa_flags, sigismember(&a.sa_mask, SIGUSR1),
	       sigismember(&a.sa_mask, SIGTERM));
}

static void look(int n)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};

	action_is("at first", n);
	printf("was default: %d\n", signal(n, SIG_IGN) == SIG_DFL);
	action_is("signal()", n);
	raise(n);
	printf("was ignored: %d\n", signal(n, SIG_DFL) == SIG_IGN);
	action_is("default again", n);
	sigaddset(&a.sa_mask, SIGUSR1);
	sigaction(n, &a, NULL);
	action_is("with a handler", n);
	raise(n);
	a.sa_flags = SA_RESETHAND;
	sigaction(n, &a, NULL);
	action_is("once", n);
	raise(n);
	action_is("no more", n);
	a.sa_handler = SIG_DFL;
	a.sa_flags = SA_NODEFER;
	sigaction(n, &a, &a);
	printf("was %d\n", a.sa_handler == SIG_DFL);
	action_is("with flags", n);
	fflush(stdout);
}

/* a signal that is blocked but for the time of a call that waits */
static void suspend(void)
{
	sigset_t none, alarm;

	sigemptyset(&none);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	timer(20000);
	sigsuspend(&none);
	puts("goes on");
}

static void wait_for_it(void)
{
	sigset_t set;
	int n;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTERM);
	sigwait(&set, &n);
	printf("waited for %d\n", n);
	fflush(stdout);
}

static long eat(long n)
{
	volatile char here[4096];

	here[0] = (char)n;
	return n ? eat(n - 1) + here[0] : 0;
}

static void overflow(void)
{
	eat(1L << 40);
}

/*
 * An alternate stack: there is room after all. The one that is eaten is our
 * own: how much there is of the first one is another matter in every run.
 */
static void overflow_aside(void)
{
	enum { PAGE = 65536 }; /* the largest */
	static char room[PAGE];
	static _Alignas(PAGE) char food[16 * PAGE];
	static ucontext_t here, there;
	stack_t s = {.ss_sp = room, .ss_size = sizeof room};

	sigaltstack(&s, NULL);
	mprotect(food, PAGE, PROT_NONE);
	getcontext(&there);
	there.uc_link = &here;
	there.uc_stack.ss_sp = food;
	there.uc_stack.ss_size = sizeof food;
	makecontext(&there, overflow, 0);
	swapcontext(&here, &there);
}

/* --- handlers that never return */

static sigjmp_buf back;
static volatile int jumps;

OWN static void jump(int n)
{
	MARK(14);
	jumps++;
	siglongjmp(back, n);
}

OWN static void exit_in_handler(int n)
{
	MARK(15);
	exit(n);
}

OWN static void end_in_handler(int n)
{
	MARK(16);
	signal(n, SIG_DFL);
	*(volatile int *)(uintptr_t)8 = 1;
}

/* one that jumps inside of itself, and returns */
OWN static void jump_inside(int n)
{
	static sigjmp_buf here;
	volatile int again = n;

	MARK(17);
	if (!sigsetjmp(here, 1)) {
		again++;
		siglongjmp(here, 1);
	}
	MARK(18);
	jumps++;
}

static void every(long us, void (*f)(int), int flags)
{
	struct sigaction a = {.sa_handler = f, .sa_flags = flags};
	struct itimerval t = {{0, us}, {0, us}};

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* n times out of the loop */
OWN static void jump_out(int n)
{
	jumps = 0;
	sigsetjmp(back, 1);
	MARK(19);
	if (jumps < n) {
		if (!jumps)
			every(3000, jump, 0);
		loop(-1);
	}
	timer(0);
}

/* n times interrupted, and none of it matters */
OWN static void return_often(int n)
{
	jumps = 0;
	every(2000, jump_inside, 0);
	while (jumps < n)
		loop(100);
	timer(0);
}

static void aside(void)
{
	static char room[65536];
	stack_t s = {.ss_sp = room, .ss_size = sizeof room};

	sigaltstack(&s, NULL);
	every(200000, exit_in_handler, SA_ONSTACK);
	loop(-1);
}

/* --- threads */

static void *work(void *arg)
{
	marks = arg;
	start_timer();
	loop(-1);
	return NULL;
}

static void *wait_long(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* the loop in another thread, which alone gets the signal */
static void in_thread(void)
{
	pthread_t t, u;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	pthread_create(&u, NULL, wait_long, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	pthread_create(&t, NULL, work, marks);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	pthread_join(t, NULL);
}

/* the loop goes on while the process ends */
static void among_threads(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, marks);
	while (!*(volatile uint64_t *)&marks[13]) /* it has begun */
		usleep(1000);
	_exit(3);
}

/* it goes on in all threads, until somebody ends them */
static void crew(void)
{
	pthread_t t;

	for (int i = 1; i < CREW; i++)
		pthread_create(&t, NULL, work, all_marks + i * PAGE);
	loop(-1);
}

static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t begun;

/* has the mutex from before it says that it has begun until it waits */
static void *wait_for_ever(void *arg)
{
	pthread_mutex_lock(&waiting);
	sem_post(&begun);
	for (;;)
		pthread_cond_wait(&never, &waiting);
	return arg;
}

/* both wait when this ends, however busy the machine is */
static void waiting_threads(void)
{
	pthread_t t;

	sem_init(&begun, 0, 0);
	pthread_create(&t, NULL, wait_for_ever, NULL);
	pthread_create(&t, NULL, wait_for_ever, NULL);
	sem_wait(&begun);
	sem_wait(&begun);
	pthread_mutex_lock(&waiting);
	usleep(50000);
	exit(4);
}

/* --- system calls that we take a part in */

OWN static void open_often(void)
{
	for (;;) {
		MARK(20);
		int fd = open("/dev/null", O_RDONLY);
		MARK(21);
		close(fd);
		MARK(22);
	}
}

OWN static void fork_often(void)
{
	for (;;) {
		MARK(23);
		pid_t pid = fork();
		if (!pid)
			_exit(0);
		MARK(24);
		waitpid(pid, NULL, 0);
		MARK(25);
	}
}

static void do_word(char **argv, int *i)
{
	static const int numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	const char *w = argv[*i];

	if (!strcmp(w, "work"))
		sink = deep(numbers, 10);
	else if (!strcmp(w, "store"))
		store(NULL, 1);
	else if (!strcmp(w, "sum"))
		sum((int *)8, 3);
	else if (!strcmp(w, "deep"))
		deep((int *)16, 3);
	else if (!strcmp(w, "late"))
		deep(numbers - (1 << 20), 3);
	else if (!strcmp(w, "trap"))
		__builtin_trap();
	else if (!strcmp(w, "abort"))
		abort();
	else if (!strcmp(w, "raise"))
		raise(atoi(argv[++*i]));
	else if (!strcmp(w, "pipe"))
		write_to_nobody();
	else if (!strcmp(w, "call-nobody"))
		((void (*)(void))(uintptr_t)atoi("8"))();
	else if (!strcmp(w, "suspend"))
		suspend();
	else if (!strcmp(w, "wait"))
		wait_for_it();
	else if (!strcmp(w, "overflow"))
		overflow();
	else if (!strcmp(w, "overflow-aside"))
		overflow_aside();
	else if (!strcmp(w, "look"))
		look(atoi(argv[++*i]));
	else if (!strcmp(w, "marks"))
		map_marks(argv[++*i]);
	else if (!strcmp(w, "timer"))
		due = atol(argv[++*i]);
	else if (!strcmp(w, "loop"))
		work(marks);
	else if (!strcmp(w, "jumps"))
		jump_out(atoi(argv[++*i]));
	else if (!strcmp(w, "returns"))
		return_often(atoi(argv[++*i]));
	else if (!strcmp(w, "exit-handler"))
		signal(SIGALRM, exit_in_handler);
	else if (!strcmp(w, "end-handler"))
		signal(SIGALRM, end_in_handler);
	else if (!strcmp(w, "aside"))
		aside();
	else if (!strcmp(w, "thread"))
		in_thread();
	else if (!strcmp(w, "among"))
		among_threads();
	else if (!strcmp(w, "crew"))
		crew();
	else if (!strcmp(w, "files"))
		open_often();
	else if (!strcmp(w, "forks"))
		fork_often();
	else if (!strcmp(w, "waiting"))
		waiting_threads();
	else if (!strcmp(w, "ignore"))
		signal(atoi(argv[++*i]), SIG_IGN);
	else
		exit(98);
}

static void in_child(int argc, char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < argc; i++)
			do_word(argv, &i);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child: signal %d status %d\n",
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 0);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "child")) {
			in_child(argc - i - 1, argv + i + 1);
			break;
		} else {
			do_word(argv, &i);
		}
	return 0;
}
