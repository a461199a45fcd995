/*
 * client: a program that asks for its own counts, stops and starts them, and
 * names phases (src/client/tally.h). The first word says what it does. Where
 * single steps are to follow it, it prints in the end what calls it made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally.h"

enum { READS = 7 };

static volatile unsigned long sink;
static char calls[4096];

/* so many instructions, which a processor just passes */
#define NOPS(n) __asm__ volatile(".rept " #n "\n nop\n .endr\n")

__attribute__((noinline)) static unsigned long collatz(unsigned long n)
{
	unsigned long steps = 0;

	for (; n != 1; steps++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

__attribute__((noinline)) static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += collatz(27 + i % 5);
}

/* --- what single steps are to see */

static void say(const char *call)
{
	strcat(calls, call);
	strcat(calls, "\n");
}

/* two reads with so many instructions between them, and the same else */
#define MEASURE(name, nops)                                                    \
	__attribute__((noinline)) static void name(uint64_t *a, uint64_t *b,   \
						   int n)                      \
	{                                                                      \
		tally_read(a, n);                                              \
		NOPS(nops);                                                    \
		tally_read(b, n);                                              \
	}
MEASURE(few, 1000)
MEASURE(more, 3000)

static void regions(void)
{
	static uint64_t at[READS][TALLY_EVENTS_MAX];
	int n = tally_events();

	tally_read(at[0], n);
	tally_read(at[1], n);
	work(1);
	tally_read(at[2], n);
	work(7);
	sink += (unsigned long)getpid();
	few(at[3], at[4], n);
	more(at[5], at[6], n);
	for (int r = 1; r < READS; r++) {
		for (int e = 0; e < n; e++)
			printf("%lu ", (unsigned long)(at[r][e] - at[r - 1][e]));
		puts("");
	}
}

static void phases(void)
{
	int was;

	say("phase read");
	tally_phase("read");
	work(3);
	say("phase sort");
	was = tally_phase("sort");
	work(5);
	say("stop");
	tally_stop();
	work(2);
	say("phase left");
	tally_phase("left");
	work(1);
	say("start");
	tally_start();
	work(4);
	say("return 1");
	tally_phase_return(was);
	work(6);
	say("stop");
	tally_stop();
	tally_stop();
	say("stop");
	work(9);
	say("start");
	tally_start();
	say("phase");
	tally_phase(NULL);
	work(2);
	fputs(calls, stdout);
}

/* --- threads and processes */

static void *in_phase(void *rounds)
{
	tally_phase("thread");
	work((unsigned)(uintptr_t)rounds);
	tally_phase(NULL);
	return NULL;
}

static void run_threads(unsigned n, unsigned rounds)
{
	pthread_t *t = calloc(n, sizeof *t);

	for (unsigned i = 0; i < n; i++)
		pthread_create(&t[i], NULL, in_phase,
			       (void *)(uintptr_t)rounds);
	for (unsigned i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* what a thread reads first is what it has done, not what others have */
static void *read_first(void *small)
{
	uint64_t n = 0;

	tally_read(&n, 1);
	if (n < 1000)
		__atomic_add_fetch((unsigned *)small, 1, __ATOMIC_RELAXED);
	work(5);
	tally_stop();
	return NULL;
}

/* threads that follow one another, while one goes on */
static void *waits(void *lock)
{
	tally_phase("waits");
	pthread_mutex_lock(lock);
	tally_phase(NULL);
	return NULL;
}

static void many(unsigned n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned small = 0;
	pthread_t t, w;

	pthread_mutex_lock(&lock);
	pthread_create(&w, NULL, waits, &lock);
	for (unsigned i = 0; i < n; i++) {
		pthread_create(&t, NULL, read_first, &small);
		pthread_join(t, NULL);
	}
	pthread_mutex_unlock(&lock);
	pthread_join(w, NULL);
	printf("%u\n", small);
}

/* a child goes on in the phase of its parent, and counts from 0 */
static void forks(unsigned rounds)
{
	uint64_t first = 1 << 30;

	tally_phase("fork");
	if (!fork()) {
		tally_read(&first, 1);
		work(rounds);
		tally_stop();
		if (!fork()) {
			work(50);
			_exit(0);
		}
		wait(NULL);
		printf("%d\n", first < 1000);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	tally_phase(NULL);
}

static void *for_ever(void *arg)
{
	for (;;) {
		tally_phase("odd");
		work(10);
		tally_phase("even");
		work(11);
		tally_stop();
		work(12);
		tally_start();
	}
	return arg;
}

static void query(void)
{
	pthread_t t;

	tally_phase("main");
	pthread_create(&t, NULL, for_ever, NULL);
	puts("begins");
	fflush(stdout);
	getchar();
	_exit(0);
}

#ifdef __aarch64__
/*
 * A library for which there is no room where a thread's counters are: the
 * thread goes on with others, while it is in a phase and stopped.
 */
static volatile int turn;
static int64_t slot;
static uint64_t thread_read[4];

static void *is_moved(void *arg)
{
	const int64_t *tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
	slot = tp[1];
	tally_phase("thread");
	work(5);
	tally_read(&thread_read[0], 1);
	work(5);
	tally_read(&thread_read[1], 1);
	tally_stop();
	turn = 1;
	while (turn == 1)
		;
	tally_start();
	work(5);
	tally_read(&thread_read[2], 1);
	work(5);
	tally_read(&thread_read[3], 1);
	tally_phase(NULL);
	return arg;
}

static void moved(const char *file)
{
	enum { PIECE = 1 << 16, PIECES = 1280, ABOVE = 256 };
	uintptr_t near = (uintptr_t)dlsym(RTLD_DEFAULT, "puts") & -PIECE;
	pthread_t t;

	pthread_create(&t, NULL, is_moved, NULL);
	while (!turn)
		;
	for (intptr_t i = ABOVE - PIECES; i < ABOVE; i++)
		mmap((void *)(near + (uintptr_t)(slot + i * PIECE)), PIECE,
		     PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		     MAP_FIXED_NOREPLACE, -1, 0);
	dlopen(file, RTLD_NOW);
	turn = 2;
	pthread_join(t, NULL);
	for (unsigned i = 0; i < 4; i++)
		printf("%lu ", (unsigned long)thread_read[i]);
}
#else
static void moved(const char *file)
{
	puts(file);
}
#endif

/* handlers at any moment, which are in a phase of their own, or, if they have
   interrupted a change, in the one that they find */
static volatile unsigned handled;

static void tick(int signo)
{
	uint64_t n[2];
	int was;

	tally_read(&n[0], 1);
	was = tally_phase("handler");
	work((unsigned)signo % 3);
	if (was >= 0)
		tally_phase_return(was);
	tally_read(&n[1], 1);
	handled += n[1] >= n[0];
}

static void signals(unsigned times)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	uint64_t now[2] = {0, 0}, before[2] = {0, 0};
	unsigned back = 0;

	signal(SIGALRM, tick);
	tally_phase("before");
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < times) {
		tally_phase("odd");
		tally_phase("even");
		tally_read(now, 2);
		back += now[0] < before[0] || now[1] < before[1];
		memcpy(before, now, sizeof before);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%u\n", back);
	fflush(stdout);
	_exit(0);
}

/* --- ends, plugins, limits */

static void crash(const char *where)
{
	tally_phase("last");
	work(3);
	if (!strcmp(where, "stopped"))
		tally_stop();
	if (!strcmp(where, "exit"))
		_exit(0);
	NOPS(1000);
	__builtin_trap();
}

static void plugin(const char *file)
{
	int (*ask)(void) = dlsym(dlopen(file, RTLD_NOW), "ask");

	tally_phase("program");
	work(2);
	printf("%d %d\n", tally_events(), ask());
}

static void limits(void)
{
	char name[100] = "x";

	printf("%d ", tally_phase(""));
	printf("%d ", tally_phase("a\nb"));
	printf("%d ", tally_phase_return(1));
	memset(name, 'n', 64);
	printf("%d ", tally_phase(name));
	name[63] = 0;
	printf("%d ", tally_phase(name));
	for (unsigned i = 1; i < TALLY_PHASES_MAX; i++) {
		sprintf(name, "%u", i);
		tally_phase(name);
	}
	printf("%d ", tally_phase("one more"));
	printf("%d ", tally_phase("1"));
	printf("%d ", tally_event_name(0, name, 3));
	printf("%s ", name);
	printf("%d %d\n", tally_event("insns"), tally_event("ins"));
}

static void left_out(void)
{
	tally_stop();
	for (unsigned i = 0; i < 4000000; i++)
		sink++;
	tally_start();
}

int main(int n, char **word)
{
	const char *what = n > 1 ? word[1] : "regions";
	unsigned number = n > 2 ? (unsigned)atoi(word[2]) : 0;

	if (!strcmp(what, "regions"))
		regions();
	else if (!strcmp(what, "phases"))
		phases();
	else if (!strcmp(what, "threads"))
		run_threads(number, (unsigned)atoi(word[3]));
	else if (!strcmp(what, "many"))
		many(number);
	else if (!strcmp(what, "forks"))
		forks(number);
	else if (!strcmp(what, "query"))
		query();
	else if (!strcmp(what, "moved"))
		moved(word[2]);
	else if (!strcmp(what, "signals"))
		signals(number);
	else if (!strcmp(what, "crash"))
		crash(word[2]);
	else if (!strcmp(what, "plugin"))
		plugin(word[2]);
	else if (!strcmp(what, "limits"))
		limits();
	else if (!strcmp(what, "left-out"))
		left_out();
	return 0;
}
