/*
 * calls: a program whose calls are known, in threads: fibonacci numbers by
 * recursion, a loop over a library's function, and a return that is far.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;

__attribute__((noinline, noipa)) static unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline, noipa)) static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline, noipa)) static void leap(int n)
{
	if (!n)
		longjmp(back, 1);
	leap(n - 1);
}

static void *work(void *arg)
{
	return (void *)(size_t)fib(*(unsigned *)arg);
}

int main(int argc, char **argv)
{
	int v[] = {5, 3, 9, 1, 7, 2, 8};
	unsigned n[] = {12, 14, 11};
	pthread_t t[2];

	(void)argv;
	for (int i = 0; i < 2 && argc < 2; i++)
		pthread_create(&t[i], NULL, work, &n[i]);
	printf("%u\n", fib(n[2]));
	qsort(v, sizeof v / sizeof *v, sizeof *v, order);
	if (!setjmp(back))
		leap(5);
	for (int i = 0; i < 2 && argc < 2; i++)
		pthread_join(t[i], NULL);
	return v[0] != 1;
}
