/*
 * samples: counts of lines that a compiler is told of. How often branches are
 * taken is easy to see; calls are inlined into each other, loops are unrolled
 * and vectorized, and lines have several blocks.
 */
#include <stdio.h>

#define OWN __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

static int numbers[64];

INLINE int odd(int x) { return x & 1 ? 3 : -1; }

INLINE int both(int x)
{
	int s = 0;

	for (int i = 0; i < 4; i++) s += i & x ? odd(i + x) : x;
	return s;
}

/* 1000 times, 100 of them the first way */
OWN int choose(int x)
{
	if (x % 10 == 0)
		return both(x) + both(x + 1);
	return x > 990 ? puts("late") : x;
}

OWN int sum(const int *at, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += at[i] * 3;
	return s;
}

OWN int never(int x)
{
	return x * 2;
}

OWN int fold(int n)
{
	if (n < 2)
		return n;
	return fold(n - 1) + fold(n - 2);
}

static int (*volatile table[])(int) = {choose, fold};

int main(int argc, char **argv)
{
	int s = 0;

	if (argc > 5)
		return never(argc);
	for (int i = 0; i < 1000; i++)
		s += choose(i);
	for (int i = 0; i < 64; i++)
		numbers[i] = i ^ s;
	for (int i = 0; i < 30; i++)
		s += sum(numbers, 64) + table[i % 3 == 0](i % 5 + 1);
	printf("%d\n", s);
	return 0;
}
