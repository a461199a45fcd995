/*
 * debug: something to stop in: frames of a program and a library, and a
 * signal handler.
 */
#include <signal.h>
#include <stdio.h>

int library_work(int (*f)(int), int n);
int debug_inner(int n), debug_middle(int n), debug_outer(int n);
void debug_handler(int sig);

static volatile int sum;

__attribute__((noinline)) int debug_inner(int n)
{
	for (int i = 0; i < n; i++)
		sum += i ^ n;
	return sum;
}

__attribute__((noinline)) int debug_middle(int n)
{
	return debug_inner(n) * 2 + 1;
}

__attribute__((noinline)) int debug_outer(int n)
{
	int x = debug_middle(n + 3);

	return x > 1000 ? x - 1000 : x;
}

__attribute__((noinline)) void debug_handler(int sig)
{
	sum += debug_middle(sig);
}

__attribute__((noinline)) static void send(void)
{
	raise(SIGUSR1);
	sum++;
}

int main(void)
{
	signal(SIGUSR1, debug_handler);
	printf("%d\n", debug_outer(4));
	printf("%d\n", library_work(debug_outer, 5));
	send();
	printf("%d\n", sum);
	return 0;
}
