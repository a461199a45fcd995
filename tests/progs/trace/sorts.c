/* sorts: much that goes to and fro between the program and its libraries, by
   numbers that are as good as random; as often as the argument says. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 200 };

static unsigned long seed = 7;

__attribute__((noinline)) static unsigned next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20);
}

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int fib(int n)
{
	return n < 2 ? 1 : fib(n - 1) + fib(n - 2 - (int)(next() & 1));
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, sum = 0, a[N];

	for (int i = 0; i < times; i++) {
		for (int j = 0; j < N; j++)
			a[j] = (int)(next() % 1000);
		qsort(a, N, sizeof *a, order);
		sum += a[3] + fib(i % 12);
	}
	printf("%d\n", sum);
	return 0;
}
