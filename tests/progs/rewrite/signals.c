/*
 * signals: handlers on alternate stacks, nested ones, out of a handler by
 * siglongjmp, a handler that changes where the program goes on, backtraces
 * through signal frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "trace.h"

static char alternate[65536];
static volatile int depth, fired;
static sigjmp_buf out;
static int *nothing;

static int on_alternate(void)
{
	char here;

	return &here >= alternate && &here < alternate + sizeof alternate;
}

static void first(int sig, siginfo_t *info, void *context)
{
	(void)context;
	depth++;
	printf("first: signal %d, from us %d, on the other stack %d\n", sig,
	       info->si_pid == getpid(), on_alternate());
	if (depth == 1)
		raise(SIGUSR2);
	trace_print("in the first handler");
	depth--;
}

static void second(int sig)
{
	depth++;
	printf("second: signal %d, depth %d, on the other stack %d\n", sig,
	       depth, on_alternate());
	trace_print("in the second handler");
	depth--;
}

static void leap(int sig, siginfo_t *info, void *context)
{
	(void)context;
	printf("fault: signal %d, at nothing %d\n", sig,
	       info->si_addr == (void *)nothing);
	siglongjmp(out, 1);
}

static void set(int sig, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = {.sa_sigaction = f,
			      .sa_flags = flags | SA_SIGINFO};

	sigaction(sig, &a, NULL);
}

__attribute__((noinline)) static void send(int sig)
{
	raise(sig);
	__asm__ volatile("");
}

/* the address that a fault goes on at: a label of this very program */
static uintptr_t recovery;

static void recover(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)info;
	printf("recovering from %d\n", sig);
#ifdef __aarch64__
	u->uc_mcontext.pc = recovery;
	u->uc_mcontext.regs[0] = 77;
#else
	u->uc_mcontext.gregs[REG_RIP] = (greg_t)recovery;
	u->uc_mcontext.gregs[REG_RAX] = 77;
#endif
}

/* loads from p; 77 if that faults */
long guarded_load(const long *p);
extern const char guarded_recovery[];
__asm__(".text\n"
	".globl guarded_load, guarded_recovery\n"
	".type guarded_load, %function\n"
	"guarded_load:\n"
	".cfi_startproc\n"
#ifdef __aarch64__
	"ldr x0, [x0]\n"
	"add x0, x0, #1\n"
	"ret\n"
	"guarded_recovery:\n"
	"ret\n"
#else
	"mov (%rdi), %rax\n"
	"add $1, %rax\n"
	"ret\n"
	"guarded_recovery:\n"
	"ret\n"
#endif
	".cfi_endproc\n"
	".size guarded_load, . - guarded_load\n");

static void tick(int sig)
{
	(void)sig;
	fired++;
}

/* asynchronous signals while something is computed */
static unsigned interrupted(void)
{
	struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0}, {0}};
	unsigned x = 1;

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 400000 || fired < 5; i++)
		if (i < 400000)
			x = x * 1664525 + (x >> 13 & 1 ? 3u : 1013904223u);
	setitimer(ITIMER_REAL, &never, NULL);
	return x;
}

int main(int argc, char **argv)
{
	stack_t s = {.ss_sp = alternate, .ss_size = sizeof alternate};
	struct sigaction plain = {.sa_handler = second};
	long good = 5;

	(void)argv;
	sigaltstack(&s, NULL);
	set(SIGUSR1, first, SA_ONSTACK);
	sigaction(SIGUSR2, &plain, NULL);
	send(SIGUSR1);
	send(SIGUSR2);
	set(SIGSEGV, leap, SA_ONSTACK | SA_NODEFER);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(out, 1))
			*(volatile int *)nothing = i;
	recovery = (uintptr_t)guarded_recovery;
	set(SIGSEGV, recover, 0);
	printf("loaded %ld, then %ld\n", guarded_load(&good),
	       guarded_load((const long *)nothing));
	printf("interrupted %u, %d\n", interrupted(), fired >= 5);
	if (argc > 1) {
		signal(SIGSEGV, SIG_DFL);
		fflush(stdout);
		*(volatile int *)nothing = 1;
	}
	return 0;
}
