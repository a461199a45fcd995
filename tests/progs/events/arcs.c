/*
 * arcs: calls that end in all ways. Procedures that begin with the same word
 * are only reached by the call of WORD_main, so that its cost is the number of
 * all their instructions.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define PROC __attribute__((noinline))
#else
#define PROC __attribute__((noipa))
#endif

static volatile int sink;
static jmp_buf out;

/* --- recursion, of which the cost is known: one and two tell the rest */
PROC static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

PROC static int fib_one(void) { return fib(1) + 1; }
PROC static int fib_two(void) { return fib(2) + 1; }
PROC static int fib_all(void) { return fib(12) + 1; }
PROC static int fib_main(void) { return fib_one() + fib_two() + fib_all(); }

/* --- two that call each other */
PROC static int pair_odd(int n);
PROC static int pair_even(int n) { return n ? pair_odd(n - 1) + 1 : 0; }
PROC static int pair_odd(int n) { return n ? pair_even(n - 1) + 1 : 0; }
PROC static int pair_main(void) { return pair_even(20) + 1; }

/* --- jumps as last thing; each way has its own end */
PROC static int tail_end(int n) { return n * 3 + sink; }
static int (*volatile tail_pointer)(int) = tail_end;
PROC static int tail_by_pointer(int n) { return tail_pointer(n + 1); }
PROC static int tail_by_name(int n) { return tail_by_pointer(n + 2); }
PROC static int tail_main(void) { return tail_by_name(1) + tail_end(2); }

/* --- a jump out of recursion */
PROC static int jump_deep(int n)
{
	if (!n)
		longjmp(out, 1);
	return jump_deep(n - 1) + 1;
}

PROC static int jump_main(void)
{
	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(out))
			sink += jump_deep(5 + i);
	return sink;
}

/* --- callbacks out of code that nobody measures */
PROC static int sort_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

PROC static int sort_main(void)
{
	int a[] = {5, 3, 9, 1, 7};

	qsort(a, 5, sizeof *a, sort_order);
	return a[0] + 1;
}

/* --- a handler is no part of what it interrupts */
PROC static void handler_work(int n) { sink += n; }
PROC static void handler_main(int sig)
{
	handler_work(sig);
	handler_work(2);
}

PROC static int raise_main(void)
{
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	return sink;
}

/* --- threads that end in the midst of calls */
PROC static int thread_deep(int n)
{
	if (!n)
		pthread_exit(NULL);
	return thread_deep(n - 1) + 1;
}

PROC static void *thread_main(void *p)
{
	sink += thread_deep(4);
	return p;
}

static void start_threads(void)
{
	pthread_t t;

	for (int i = 0; i < 2; i++)
		if (!pthread_create(&t, NULL, thread_main, NULL))
			pthread_join(t, NULL);
}

/* --- a call that two processes are in */
PROC static int fork_work(int n) { return n ? fork_work(n - 1) + 1 : 0; }
PROC static int fork_main(void)
{
	pid_t pid = fork();

	if (pid)
		waitpid(pid, NULL, 0);
	return fork_work(pid ? 3 : 6) + (pid ? 1 : 2);
}

/* --- calls that are open at the end */
PROC static void end_deep(int n)
{
	if (!n)
		_exit(7);
	end_deep(n - 1);
	sink++;
}

PROC static void end_main(void)
{
	end_deep(3);
	sink++;
}

int main(void)
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_handler = handler_main;
	sigaction(SIGUSR1, &a, NULL);
	sink += fib_main();
	sink += pair_main();
	sink += tail_main();
	sink += jump_main();
	sink += sort_main();
	sink += raise_main();
	start_threads();
	sink += fork_main();
	end_main();
	return 0;
}
