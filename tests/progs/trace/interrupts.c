/*
 * interrupts: a handler of SIGUSR1, for a program beside it that knows nothing
 * of it. What it does depends on how often it has been called, and is the same
 * again after PERIOD calls. Between the two getppid() signals may arrive.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#define OUT __attribute__((noinline))
enum { PERIOD = 12 };

static volatile unsigned interrupts, interrupts_sum;

#ifdef __cplusplus
extern "C" { /* names are looked up */
#endif
OUT void interrupt_plus(unsigned v) { interrupts_sum += v; }
OUT void interrupt_minus(unsigned v) { interrupts_sum -= v; }
OUT void interrupt_twice(unsigned v) { interrupts_sum *= v & 2; }

static void (*const interrupt_way[])(unsigned) = {
	interrupt_plus, interrupt_minus, interrupt_twice, interrupt_minus};

OUT void on_interrupt(int s)
{
	unsigned n = interrupts++ % PERIOD;

	for (unsigned i = 0; i < n % 3; i++)
		if (i & 1)
			interrupts_sum ^= (unsigned)s;
	interrupt_way[n & 3](n);
	if (n > 8)
		interrupt_way[n % 3](n);
}

__attribute__((constructor)) static void interrupts_begin(void)
{
	struct sigaction a = {0};

	a.sa_handler = on_interrupt;
	a.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &a, NULL);
	getppid();
}

__attribute__((destructor)) static void interrupts_end(void)
{
	getppid();
}

#ifdef __cplusplus
}
#endif
