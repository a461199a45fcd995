/*
 * turns FILE KINDS: a thread for each letter of KINDS, which does the same turn
 * for ever, and says in FILE how many it has begun (turns.h). A turn's
 * instructions are the same each time, whatever else happens. Writes a line when
 * all of them have done some. The first thread ends all when stdin does.
 *
 *	c	calls: by pointers, of itself, tail calls, by a table of jumps
 *	s	system calls: those that come back at once, and those that sleep
 *	j	jumps from inner frames to outer ones
 *	h	handlers of signals that it sends to itself, one in the other
 *	m	memory: strings, atomics, vectors
 */
#define _GNU_SOURCE
#include "turns.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static const char *kinds;
static struct turns *turns;

/* makes the next use of it slow, so that a thread is seen there more often */
#ifdef __x86_64__
#define FORGET(p) __asm__ volatile("clflush %0" : : "m"(*(p)) : "memory")
#else
#define FORGET(p) __asm__ volatile("dc civac, %0" : : "r"(p) : "memory")
#endif

struct place {
	volatile unsigned x;
	_Atomic unsigned long n;
	unsigned char from[64], to[64];
	jmp_buf back;
};

OWN static unsigned add(unsigned x) { return x + 3; }
OWN static unsigned twice(unsigned x) { return x * 2 + 1; }
static unsigned (*volatile const table[2])(unsigned) = {add, twice};

OWN static unsigned tail(unsigned x)
{
	FORGET(table);
	return table[x & 1](x);
}

OWN static unsigned depth(struct place *p, unsigned n)
{
	if (n & 1)
		FORGET(&p->x);
	return n ? depth(p, n - 1) + (n ^ p->x) % 3 : 1;
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

OWN static void calls(struct place *p)
{
	unsigned x = 1;

	p->x = 1;
	for (unsigned i = 0; i < 12; i++) {
		if (i & 2)
			FORGET(&p->x);
		x = cases(i & 7, x ^ i ^ p->x);
	}
	p->x = x + tail(2) + tail(3) + depth(p, 7);
}

OWN static void system_calls(struct place *p)
{
	struct timespec t = {0, 1};

	for (unsigned i = 0; i < 5; i++)
		p->x = (unsigned)syscall(SYS_getppid) + i;
	sched_yield();
	nanosleep(&t, NULL);
}

OWN static void inner(struct place *p, unsigned n)
{
	if (!n)
		_longjmp(p->back, 1);
	FORGET(&p->x);
	inner(p, n - 1 - p->x % 1);
	p->x++;
}

OWN static void jumps(struct place *p)
{
	for (volatile unsigned i = 0; i < 3; i++) {
		if (!_setjmp(p->back))
			inner(p, i * 2);
		p->x = i;
	}
}

static void on_second(int n)
{
	(void)n;
	FORGET(table);
	table[0](1);
}

static void on_first(int n)
{
	(void)n;
	raise(SIGUSR2);
	FORGET(table);
	table[1](2);
}

OWN static void handlers(struct place *p)
{
	for (unsigned i = 0; i < 2; i++) {
		raise(SIGUSR1);
		p->x = i;
	}
}

OWN static void memory(struct place *p)
{
	double d[4] = {1, 2, 3, 4};

	FORGET(&p->n);
	p->n++;
	FORGET(p->from);
#ifdef __x86_64__
	{
		unsigned char *to = p->to, *from = p->from;
		unsigned long n = sizeof p->to;

		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)
				 : : "memory");
	}
#endif
	for (unsigned i = 0; i < 4; i++)
		d[i] = d[i] * 1.5 + p->from[i];
	p->x = (unsigned)(d[0] + d[1] + d[2] + d[3]);
	FORGET(p->to);
	for (unsigned i = 0; i < sizeof p->to; i++)
		p->to[i] += p->from[i];
}

OWN void turn(void (*f)(struct place *), struct place *p, unsigned long n,
	      volatile unsigned long *said)
{
	*said = n;
	f(p);
}

/* for ever, each time the same */
static void *work(void *arg)
{
	unsigned long at = (unsigned long)arg;
	struct place p = {0};
	void (*f)(struct place *) = calls;

	switch (kinds[at]) {
	case 's': f = system_calls; break;
	case 'j': f = jumps; break;
	case 'h': f = handlers; break;
	case 'm': f = memory; break;
	}
	turns[at].tid = (unsigned long)syscall(SYS_gettid);
	for (unsigned long n = 1;; n++)
		turn(f, &p, n, &turns[at].begun);
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	pthread_t t;
	char c;
	int n;

	turns = mmap(NULL, TURNS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     0);
	if (turns == MAP_FAILED)
		return 99;
	signal(SIGUSR1, on_first);
	signal(SIGUSR2, on_second);
	kinds = argv[2];
	n = (int)strlen(kinds);
	for (long i = 0; i < n; i++)
		pthread_create(&t, NULL, work, (void *)i);
	for (int i = 0; i < n; i++)
		while (turns[i].begun < 6)
			usleep(1000);
	puts("there");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
