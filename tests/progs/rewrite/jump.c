/*
 * jump: setjmp, longjmp, sigsetjmp, contexts.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static jmp_buf back;
static sigjmp_buf out;

__attribute__((noinline)) static int fall(int n)
{
	volatile char room[64];

	room[n & 63] = (char)n;
	if (!n)
		longjmp(back, 5);
	return fall(n - 1) + room[n & 63];
}

static void returns_twice(void)
{
	volatile int rounds = 0;
	double kept = 2.5;
	int r = setjmp(back);

	rounds++;
	if (r == 0)
		fall(30);
	printf("came back with %d, round %d, kept %g\n", r, rounds, kept);
	if (rounds < 4)
		longjmp(back, rounds == 3 ? 0 : rounds * 10);
}

static void on_signal(int sig)
{
	printf("signal %d\n", sig);
	siglongjmp(out, 3);
}

static void out_of_handler(void)
{
	sigset_t now;

	signal(SIGUSR1, on_signal);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(out, 1))
			raise(SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	printf("blocked: %d\n", sigismember(&now, SIGUSR1));
}

static ucontext_t home, one, two;
static int turns;

static void worker(int id, int step)
{
	for (int i = 0; i < 3; i++) {
		printf("context %d, turn %d, step %d\n", id, ++turns, step);
		swapcontext(id == 1 ? &one : &two, id == 1 ? &two : &one);
	}
	printf("context %d ends\n", id);
}

static void contexts(void)
{
	static char stack[2][65536];

	getcontext(&one);
	one.uc_stack.ss_sp = stack[0];
	one.uc_stack.ss_size = sizeof stack[0];
	one.uc_link = &home;
	two = one;
	two.uc_stack.ss_sp = stack[1];
	makecontext(&one, (void (*)(void))worker, 2, 1, 100);
	makecontext(&two, (void (*)(void))worker, 2, 2, 200);
	swapcontext(&home, &one);
	printf("home after %d turns\n", turns);
}

static void again(void)
{
	ucontext_t here;
	volatile int n = 0;

	getcontext(&here);
	if (++n < 4)
		setcontext(&here);
	printf("%d times at one place\n", n);
}

int main(void)
{
	returns_twice();
	out_of_handler();
	contexts();
	again();
	return turns;
}
