/* dies: after a long time, in a call that is deep. The argument says how. */
#include <stdlib.h>
#include <string.h>

static unsigned long seed = 7;

__attribute__((noinline)) static unsigned next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20);
}

/* what compresses badly */
__attribute__((noinline)) static unsigned work(int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++)
		if (next() & 1)
			sum += next() & 2 ? 5 : 3;
		else
			sum += next() & 4 ? 1 : 2;
	return sum;
}

__attribute__((noinline)) static unsigned deep(int n, const char *how)
{
	if (n)
		return deep(n - 1, how) + work(n);
	work(5000000);
	if (!strcmp(how, "abort"))
		abort();
	*(volatile char *)8 = 1;
	return 0;
}

int main(int argc, char **argv)
{
	return argc == 2 ? (int)deep(5, argv[1]) : 1;
}
