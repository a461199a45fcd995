/* coverage: lines of many kinds, some of which never run. For gcov. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int classify(int c)
{
	switch (c) {
	case 'a': case 'e': case 'i': case 'o': case 'u':
		return 1;
	case ' ':
		return 2;
	case '0': case '1': case '2':
		return 3;
	default:
		if (c < 32 || c > 126)
			return 4;
		return 0;
	}
}
static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int never(int x)
{
	x *= 3;
	return x + 1;
}
static int find(const char *s, int c)
{
	int n = 0;
	while (*s) {
		if (*s++ != c)
			continue;
		n++;
		if (n > 1000)
			goto out;
	}
	for (int i = 0; i < 3; i++)
		for (int j = i; j < 3 && i != 2; j++) { n += j; n -= j; }
out:
	return n;
}
int main(int argc, char **argv)
{
	const char *text = "the quick brown fox jumps over 12 lazy dogs\n";
	int seen[5] = {0};
	for (const char *p = text; *p; p++)
		seen[classify(*p)]++;
	printf("%d %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3],
	       seen[4]);
	printf("%ld %d\n", fib(15), find(text, 'o'));
	do
		argc--;
	while (argc > 0);
	if (getenv("NEVER_SET"))
		return never(argc);
	return 0;
}
