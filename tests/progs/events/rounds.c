/*
 * rounds WORD...: does rounds of work, each the same number of instructions,
 * while handlers interrupt it:
 *
 *	rounds N      so many
 *	single N      so many, one by one
 *	ticks N       the same until timers have interrupted it so often; two kinds of
 *	              handlers interrupt each other, too
 *	threads N     N threads, one after the other: the Kth does K rounds
 *	last N        a thread does N rounds and ends the process
 *	fork N        a child does N rounds; so does its parent, then
 *	big           what has more instructions than fit in one addition
 *
 * At the end it says how many rounds and ticks there were.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static volatile long ticks, tocks;
static volatile unsigned sink;
static volatile long rounds;

/* handlers, straight code; they are not entered while they are at work */
void tick(int n)
{
	(void)n;
	ticks = ticks + 1;
}

void tock(int n)
{
	(void)n;
	tocks = tocks + 1;
}

OWN static unsigned add(unsigned x) { return x + 3; }
OWN static unsigned twice(unsigned x) { return x * 2 + 1; }
static unsigned (*volatile const table[2])(unsigned) = {add, twice};

OWN static unsigned tail(unsigned x)
{
	return table[x & 1](x);
}

OWN static unsigned depth(unsigned n)
{
	return n ? depth(n - 1) + (n ^ sink) % 3 : 1;
}

OWN static unsigned cases(unsigned n, unsigned x)
{
	switch (n) {
	case 0: return x + 1;
	case 1: x ^= 5; break;
	case 2: x *= 3; break;
	case 3: x += 9; /* fall through */
	case 4: x -= 2; break;
	case 5: return add(x);
	case 6: x = ~x; break;
	case 7: x <<= 1; break;
	}
	return x ^ n;
}

/* the same at every call */
OWN void begin_round(void)
{
	unsigned char *room = alloca(64);
	double d = 1;

	memset(room, 1, 64);
	sink = 1;
	for (unsigned i = 0; i < 16; i++) {
		sink = cases(i & 7, i);
		d = d * 1.5 + room[i];
	}
	sink = tail(2) + tail(3) + depth(9) + (unsigned)d;
	getppid();
}

OWN static void go_round(long n)
{
	for (long i = 0; i < n; i++)
		begin_round();
	rounds = rounds + n;
}

/* one by one until both are so many */
OWN static void go_until(volatile long *a, volatile long *b, long n)
{
	while ((*a < n) | (*b < n))
		go_round(1);
}

static void every(int signo, void (*f)(int), long ns)
{
	struct sigaction a = {.sa_handler = f, .sa_flags = SA_RESTART};
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL,
			     .sigev_signo = signo};
	struct itimerspec t = {{0, ns}, {0, ns}};
	timer_t timer;

	sigaction(signo, &a, NULL);
	if (timer_create(CLOCK_MONOTONIC, &e, &timer) ||
	    timer_settime(timer, 0, &t, NULL))
		exit(99);
}

OWN static void interrupted(long n)
{
	every(SIGALRM, tick, 310000);
	every(SIGUSR1, tock, 170000);
	go_until(&ticks, &tocks, n);
	signal(SIGALRM, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
}

static void *in_thread(void *arg)
{
	go_round((long)arg);
	return NULL;
}

static void in_turn(long n)
{
	pthread_t t;

	for (long i = 1; i <= n; i++) {
		pthread_create(&t, NULL, in_thread, (void *)i);
		pthread_join(t, NULL);
	}
}

static void say(void)
{
	char text[128];
	int n = snprintf(text, sizeof text, "%ld rounds %ld ticks %ld tocks\n",
			 rounds, (long)ticks, (long)tocks);

	if (write(1, text, (size_t)n) != n)
		_exit(99);
}

static void *to_end(void *arg)
{
	go_round((long)arg);
	say();
	exit(3);
}

static void last(long n)
{
	pthread_t t;

	pthread_create(&t, NULL, to_end, (void *)n);
	pthread_join(t, NULL);
}

static void forked(long n)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		rounds = 0;
		go_round(n);
		say();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	go_round(n);
}

#ifdef BIG
/* BIG times 1000 statements without a branch, a loop around them */
#define ONE x = x * 33 + (x >> 7); x ^= n;
#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED \
	HUNDRED HUNDRED HUNDRED
OWN static unsigned big(unsigned n)
{
	volatile unsigned x = n;

	for (unsigned i = 0; i < 5; i++) {
		THOUSAND
		if (i & 1) {
			THOUSAND
		}
		if (BIG > 1) {
			THOUSAND THOUSAND THOUSAND THOUSAND
		}
	}
	return x;
}
#else
static unsigned big(unsigned n) { return n; }
#endif

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *w = argv[i];
		long n = atol(argv[i + 1]);

		if (!strcmp(w, "rounds"))
			go_round(n);
		else if (!strcmp(w, "single"))
			go_until(&rounds, &rounds, n);
		else if (!strcmp(w, "ticks"))
			interrupted(n);
		else if (!strcmp(w, "threads"))
			in_turn(n);
		else if (!strcmp(w, "last"))
			last(n);
		else if (!strcmp(w, "fork"))
			forked(n);
		else if (!strcmp(w, "big"))
			sink = big((unsigned)n);
		else
			return 98;
	}
	say();
	return 0;
}
