/*
 * slots-run: run single instructions that access memory, in an emulator.
 *
 * Reads the bytes of one instruction per line, as hexadecimal digits, and runs
 * each once, with x1 (rbx, rsi and rdi) in the middle of memory that may be
 * accessed. Writes the lines of those that ended with a signal. For both
 * machines, and programs that neither jump nor change what threads are known
 * by.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 80, SLOT = 32, SLOTS = 1 << 18, DATA = 1 << 20, FILLED = 8192 };

static sigjmp_buf interrupted;
static uint8_t *code, *data;
void *slots_sp; /* the stack of run_slot()'s caller */

/* runs what is at `slot`, which goes on at slot_done() */
void run_slot(const void *slot, void *middle);
void slot_done(void);

#if defined(__aarch64__)

/* all predicates of SVE are true, so that its accesses happen */
__asm__(".text\n"
	".globl	run_slot, slot_done\n"
	"run_slot:\n"
	"	stp	x19, x20, [sp, #-160]!\n"
	"	stp	x21, x22, [sp, #16]\n"
	"	stp	x23, x24, [sp, #32]\n"
	"	stp	x25, x26, [sp, #48]\n"
	"	stp	x27, x28, [sp, #64]\n"
	"	stp	x29, x30, [sp, #80]\n"
	"	stp	d8, d9, [sp, #96]\n"
	"	stp	d10, d11, [sp, #112]\n"
	"	stp	d12, d13, [sp, #128]\n"
	"	stp	d14, d15, [sp, #144]\n"
	"	adrp	x2, slots_sp\n"
	"	mov	x3, sp\n"
	"	str	x3, [x2, :lo12:slots_sp]\n"
	".irp	n, 0, 1, 2, 3, 4, 5, 6, 7\n"
	"	.inst	0x2518e3e0 + \\n\n" /* ptrue p\n.b */
	".endr\n"
	".irp	n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, "
	"19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n"
	"	mov	x\\n, #16\n"
	".endr\n"
	"	br	x0\n"
	"slot_done:\n"
	"	adrp	x2, slots_sp\n"
	"	ldr	x3, [x2, :lo12:slots_sp]\n"
	"	mov	sp, x3\n"
	"	ldp	x21, x22, [sp, #16]\n"
	"	ldp	x23, x24, [sp, #32]\n"
	"	ldp	x25, x26, [sp, #48]\n"
	"	ldp	x27, x28, [sp, #64]\n"
	"	ldp	x29, x30, [sp, #80]\n"
	"	ldp	d8, d9, [sp, #96]\n"
	"	ldp	d10, d11, [sp, #112]\n"
	"	ldp	d12, d13, [sp, #128]\n"
	"	ldp	d14, d15, [sp, #144]\n"
	"	ldp	x19, x20, [sp], #160\n"
	"	ret\n");

/* the way back from a slot: ldr x30, .+8; br x30; .quad slot_done */
static const uint8_t way_back[] = {0x5e, 0, 0, 0x58, 0xc0, 3, 0x1f, 0xd6};

#else

__asm__(".text\n"
	".globl	run_slot, slot_done\n"
	"run_slot:\n"
	"	push	%rbx\n"
	"	push	%rbp\n"
	"	push	%r12\n"
	"	push	%r13\n"
	"	push	%r14\n"
	"	push	%r15\n"
	"	mov	%rsp, slots_sp(%rip)\n"
	"	mov	%rdi, %r11\n"
	"	mov	%rsi, %rbx\n"
	"	mov	%rsi, %rdi\n"
	"	mov	%rsi, %rbp\n"
	"	mov	$3, %ecx\n"
	"	mov	$1, %eax\n"
	"	xor	%edx, %edx\n"
	"	jmp	*%r11\n"
	"slot_done:\n"
	"	mov	slots_sp(%rip), %rsp\n"
	"	cld\n"
	"	fninit\n"
	"	pop	%r15\n"
	"	pop	%r14\n"
	"	pop	%r13\n"
	"	pop	%r12\n"
	"	pop	%rbp\n"
	"	pop	%rbx\n"
	"	ret\n");

/* jmp *0(%rip); .quad slot_done */
static const uint8_t way_back[] = {0xff, 0x25, 0, 0, 0, 0};

#endif

static void on_signal(int signal)
{
	siglongjmp(interrupted, signal);
}

/* memory that may be read, written and executed, or exit */
static uint8_t *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("slots-run: mmap");
		exit(2);
	}
	return p;
}

/* instructions may leave the stack pointer anywhere */
static void catch_signals(void)
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGTRAP, SIGFPE};
	stack_t stack = {.ss_sp = map(1 << 16), .ss_size = 1 << 16};
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &a, NULL);
}

static void fill_slot(uint8_t *slot, const char *line)
{
	void (*done)(void) = slot_done;
	unsigned byte;

	for (; sscanf(line, "%2x", &byte) == 1; line += 2)
		*slot++ = (uint8_t)byte;
	memcpy(slot, way_back, sizeof way_back);
	memcpy(slot + sizeof way_back, &done, sizeof done);
}

/* whether what is at `slot` ran to its end */
static bool run(const void *slot)
{
	memset(data + DATA / 2 - FILLED / 2, 1, FILLED);
	if (sigsetjmp(interrupted, 1))
		return false;
	run_slot(slot, data + DATA / 2);
	return true;
}

int main(void)
{
	static char lines[SLOTS][LINE];
	size_t n = 0;

	code = map((size_t)SLOT * SLOTS);
	data = map(DATA);
	catch_signals();
	for (; n < SLOTS && fgets(lines[n], LINE, stdin); n++)
		fill_slot(code + n * SLOT, lines[n]);
	__builtin___clear_cache((char *)code, (char *)code + n * SLOT);
	for (size_t i = 0; i < n; i++)
		if (!run(code + i * SLOT))
			fputs(lines[i], stdout);
	return 0;
}
