/*
 * plugin: a library that does TIMES rounds of work when it is called, and does
 * some when it is unloaded, too; so it may be by its own function.
 */
#include <dlfcn.h>

static volatile long sink;

__attribute__((noinline, noclone)) static long depth(long n)
{
	return n < 2 ? n : depth(n - 1) + depth(n - 2);
}

long work(long n)
{
	long sum = 0;

	for (int i = 0; i < TIMES; i++)
		sum += depth(n);
	return sum;
}

/* a jump: nothing comes back to here */
int leave(void *self)
{
	return dlclose(self);
}

__attribute__((destructor)) static void ends(void)
{
	sink = depth(5);
}
