/*
 * turns: recursion, a switch, handlers of signals that interrupt system calls
 * alone, and children that end in different ways.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUT __attribute__((noinline))

static volatile long sum;

static OUT void handle(int number)
{
	sum += number;
}

static OUT int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static OUT int turn(int n)
{
	switch (n % 7) {
	case 0: return fib(3);
	case 1: return n * 3;
	case 2: return n + 1;
	case 3: return fib(4) - n;
	case 4: return -n;
	case 5: return n ^ 5;
	}
	return 1;
}

/* exit(), _exit(), a signal */
static OUT void end(int how)
{
	volatile int *nowhere = NULL;

	if (how == 2)
		*nowhere = fib(7);
	if (how == 1)
		_exit(fib(9) & 3);
	exit(fib(10) & 7);
}

int main(void)
{
	signal(SIGUSR1, handle);
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR1);
		sum += turn(i);
	}
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();
		int status = 0;

		if (!child)
			end(i);
		waitpid(child, &status, 0);
		sum += status;
	}
	printf("%ld\n", sum);
	return 0;
}
