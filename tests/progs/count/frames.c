/*
 * frames: what runtimes do that keep tables of return addresses: every call
 * that the table knows has to leave an address that is in it, and a handler of
 * a signal has to see one of the addresses that the file has. Prints what it
 * finds; `skip`: the handler goes on elsewhere, `leave`: where it was.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define N 200

extern const uintptr_t frames[N + 1];
extern const char trap_at[], trap_behind[];
uintptr_t calls(uintptr_t (*f)(uintptr_t), uintptr_t n);
uintptr_t traps(uintptr_t n);
uintptr_t called(uintptr_t n);

#if defined(__aarch64__)
#define PC(u) ((u)->uc_mcontext.pc)
#define CALL "bl called\n"
#define CALL_POINTER "blr x19\n"
#define TRAP "ldr x10, [x9]\n"
#define HEAD "stp x29, x30, [sp, #-32]!\nmov x29, sp\n" \
	"stp x19, x20, [sp, #16]\nmov x19, x0\nmov x20, x1\nmov x0, x1\n"
#define TAIL "ldp x19, x20, [sp, #16]\nldp x29, x30, [sp], #32\nret\n"
#define TRAPS "add x0, x0, #1\nmov x9, #0\ntrap_at: " TRAP "add x0, x0, #2\n" \
	"trap_behind: add x0, x0, #4\nret\n"
#else
#define PC(u) ((u)->uc_mcontext.gregs[REG_RIP])
#define CALL "mov %rax, %rdi\ncall called\n"
#define CALL_POINTER "mov %rax, %rdi\ncall *%rbx\n"
#define TRAP "mov (%r11), %r11\n"
#define HEAD "push %rbx\nmov %rdi, %rbx\nmov %rsi, %rax\n"
#define TAIL "pop %rbx\nret\n"
#define TRAPS "lea 1(%rdi), %rax\nxor %r11d, %r11d\ntrap_at: " TRAP "add $2, %rax\n" \
	"trap_behind: add $4, %rax\nret\n"
#endif

/* what follows is laid behind this */
__asm__(".pushsection .data.rel.ro, \"aw\"\n.balign 8\n.globl frames\n"
	"frames:\n.popsection\n");
__asm__(".text\n.globl calls\n.type calls, %function\ncalls:\n"
	".cfi_startproc\n" HEAD
	".rept 100\n" CALL
	"1: .pushsection .data.rel.ro, \"aw\"\n.quad 1b\n.popsection\n"
	CALL_POINTER
	"2: .pushsection .data.rel.ro, \"aw\"\n.quad 2b\n.popsection\n"
	".endr\n" TAIL
	".cfi_endproc\n.size calls, . - calls\n"
	".pushsection .data.rel.ro, \"aw\"\n.quad 0\n.popsection\n");
__asm__(".text\n.globl traps, trap_at, trap_behind\n.type traps, %function\ntraps:\n"
	".cfi_startproc\n" TRAPS ".cfi_endproc\n.size traps, . - traps\n");

static unsigned seen, known, handled;
static int skip;
static const uintptr_t *table;

static int in_table(uintptr_t p)
{
	for (int i = 0; i < N; i++)
		if (table[i] == p)
			return 1;
	return 0;
}

uintptr_t __attribute__((noinline)) called(uintptr_t n)
{
	seen++;
	known += in_table((uintptr_t)__builtin_return_address(0));
	return n + 1;
}

static void handler(int s, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uintptr_t pc = (uintptr_t)PC(u);

	(void)s;
	(void)info;
	handled += pc == (uintptr_t)trap_at;
	PC(u) = (__typeof__(PC(u)))trap_behind;
}

/* leaves the context as it is: what was interrupted goes on */
static void quiet(int s, siginfo_t *info, void *context)
{
	(void)s;
	(void)info;
	(void)context;
	handled++;
}

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_flags = SA_SIGINFO, .sa_sigaction = handler};
	uintptr_t sum = 0;

	table = frames;
	skip = argc > 1 && !strcmp(argv[1], "skip");
	sigaction(SIGSEGV, &a, NULL);
	a.sa_sigaction = quiet;
	sigaction(SIGUSR1, &a, NULL);
	for (int i = 0; i < 5; i++)
		sum += calls(called, (uintptr_t)i);
	printf("%u calls, %u known, %lu\n", seen, known, (unsigned long)sum);
	for (int i = 0; skip && i < 3; i++)
		sum += traps(7);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	printf("%u handled, %lu\n", handled, (unsigned long)sum);
	return 0;
}
