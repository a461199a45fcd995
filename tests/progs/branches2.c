/* branches2: the other file of branches.c. */
#include "branches.h"

static int kept;

__attribute__((noinline)) static int step(int x)
{
	int s = 0;

	for (int i = 0; i < x % 7; i++)
		s += i ^ kept;
	return s;
}

int other(int x)
{
	kept++;
	return step(x) + 1;
}

int walk(int n)
{
	int s = 0;

	while (n-- > 0)
		s += n % 5 ? step(n) : other(n);
	return s;
}
