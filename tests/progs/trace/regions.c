/*
 * regions: procedures that tracing may begin with, called directly, by their
 * address and in a thread; and what is left out by the library of tally.h.
 *
 *	regions direct|pointer|thread|library
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tally.h"

typedef unsigned proc(unsigned n);

__attribute__((noinline, noipa)) static unsigned leaf(unsigned n)
{
	return n * 3 + 1;
}

__attribute__((noinline, noipa)) unsigned early(unsigned n)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < n; i++)
		sum += sum & 4 ? leaf(sum) : sum >> 1;
	return sum;
}

__attribute__((noinline, noipa)) unsigned work(unsigned n)
{
	unsigned sum = n;

	for (unsigned i = 0; i < n; i++)
		sum += sum & 2 ? leaf(i) : i;
	return sum;
}

proc *volatile chosen = work;

__attribute__((noinline, noipa)) unsigned both(unsigned n)
{
	return work(n) + chosen(n + 1);
}

static unsigned cells[] = {1, 2, 3};
static unsigned *volatile cell[] = {cells, cells + 1, cells + 2};

/* what it accesses is found by what is in memory */
static inline unsigned use(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += ++*cell[i % 3];
	return sum;
}

static void *thread(void *sum)
{
	*(unsigned *)sum += both(20);
	return NULL;
}

__attribute__((noinline, noipa)) static unsigned some(unsigned n)
{
	int stopped, started;
	unsigned sum = work(n);

	sum += use(n);
	stopped = tally_stop();
	sum += early(n) + use(n + 1);
	started = tally_start();
	sum += use(n + 5) + work(n + 2);
	return stopped == started ? sum : 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned sum = early(100);
	pthread_t t;

	if (!strcmp(how, "direct"))
		sum += work(30);
	else if (!strcmp(how, "pointer"))
		sum += chosen(30);
	else if (!strcmp(how, "library"))
		sum += some(10);
	else if (!pthread_create(&t, NULL, thread, &sum))
		pthread_join(t, NULL);
	if (strcmp(how, "library"))
		sum += early(10);
	printf("%u\n", sum);
	return 0;
}
