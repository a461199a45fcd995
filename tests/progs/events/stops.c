/*
 * stops: something to stop in, the same in every run: loops, tables, calls in
 * all ways, the C library, a handler, then threads one after the other and a
 * child.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static volatile unsigned sink;
static volatile int handled;

OWN unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

OWN unsigned cases(unsigned n, unsigned x)
{
	switch (n) {
	case 0: return x + 1;
	case 1: x ^= 5; break;
	case 2: x *= 3; break;
	case 3: x += 9; /* fall through */
	case 4: x -= 2; break;
	case 5: return fib(x & 3);
	case 6: x = ~x; break;
	}
	return x ^ n;
}

static unsigned (*volatile const table[2])(unsigned) = {fib, fib};

OWN unsigned through(unsigned x)
{
	return table[x & 1](x);
}

void on_signal(int n)
{
	handled = handled + n;
	sink = fib(4);
}

OWN unsigned work(unsigned n)
{
	char room[32];
	unsigned s = 0;

	for (unsigned i = 0; i < n; i++) {
		s += cases(i % 8, i);
		s += through(i % 5);
		memset(room, (int)i, i % 32);
		if (i % 7 == 3)
			getppid();
		if (i % 11 == 5)
			raise(SIGUSR1);
	}
	return s + (unsigned char)room[0];
}

static void *in_thread(void *arg)
{
	sink += work((unsigned)(long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int status = 0;
	pid_t pid;

	signal(SIGUSR1, on_signal);
	sink = work(argc > 1 ? (unsigned)atoi(argv[1]) : 20);
	for (long i = 1; argc > 2 && i <= atoi(argv[2]); i++) {
		pthread_create(&t, NULL, in_thread, (void *)(10 * i));
		pthread_join(t, NULL);
	}
	if (argc > 3) {
		pid = fork();
		if (!pid) {
			work(30);
			_exit(5);
		}
		waitpid(pid, &status, 0);
	}
	printf("%u %d %d\n", sink, handled, WEXITSTATUS(status));
	return 7;
}
