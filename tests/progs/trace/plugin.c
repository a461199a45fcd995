/* plugin: a library for plugins.c; WAY is 0 or 1. */
#include <stdlib.h>

static unsigned long state = WAY;

__attribute__((noinline)) static unsigned long even(unsigned n)
{
	unsigned long s = 0;

	for (unsigned i = 0; i < n; i++)
		s += i & 1 ? state * i : i;
	return s;
}

__attribute__((noinline)) static unsigned long odd(unsigned n)
{
	return n < 2 ? state : odd(n - 1) + odd(n - 2);
}

/* the loader finds what it calls when it does, and jumps there; then nothing
   has to be written */
__attribute__((constructor)) static void first(void)
{
	state += (unsigned long)atoi("7");
}

__attribute__((constructor)) static void begin(void)
{
	state += WAY ? odd(5) : even(9);
}

__attribute__((destructor)) static void end(void)
{
	state -= WAY ? even(3) : odd(4);
}

unsigned long run(unsigned n, unsigned long (*call)(unsigned long))
{
	unsigned long s = 0;

	for (unsigned i = 0; i < n; i++)
		s += (WAY ? odd(i % 7) : even(i)) + call(s);
	return s;
}
