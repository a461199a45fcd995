/*
 * a64-exceptions: which instructions on vector registers raise exceptions of
 * floating point.
 *
 * Runs every word of the group of floating point and SIMD, with the registers 0
 * and 1 as destination and first source, on values that make whatever looks at
 * them as numbers complain: signalling NaNs of every width, and integers that
 * no floating-point number is equal to. For each word that is an instruction of
 * this machine there is a line, its bytes, and 1 if it raised an exception
 * (FPSR). For AArch64 only.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { WORDS = 1 << 19, RAISED = 0x9f, RET = 0xd65f03c0u };

static sigjmp_buf illegal;
static uint32_t *code;

static void on_illegal(int signal)
{
	siglongjmp(illegal, signal);
}

/* the exceptions that the code raises if all registers hold `value` */
uint64_t run_code(const uint32_t *at, uint64_t value);

__asm__(".text\n"
	".globl	run_code\n"
	"run_code:\n"
	"	stp	x29, x30, [sp, #-80]!\n"
	"	stp	d8, d9, [sp, #16]\n"
	"	stp	d10, d11, [sp, #32]\n"
	"	stp	d12, d13, [sp, #48]\n"
	"	stp	d14, d15, [sp, #64]\n"
	".irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	dup	v\\n\\().2d, x1\n"
	".endr\n"
	".irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n"
	"	dup	v\\n\\().2d, x1\n"
	".endr\n"
	"	dup	v30.2d, x1\n"
	"	dup	v31.2d, x1\n"
	"	mov	x2, x0\n"
	"	msr	fpsr, xzr\n"
	"	blr	x2\n"
	"	mrs	x0, fpsr\n"
	"	ldp	d8, d9, [sp, #16]\n"
	"	ldp	d10, d11, [sp, #32]\n"
	"	ldp	d12, d13, [sp, #48]\n"
	"	ldp	d14, d15, [sp, #64]\n"
	"	ldp	x29, x30, [sp], #80\n"
	"	ret\n");

/* word number i of the group, bits 27:25 = 111 */
static uint32_t word(uint32_t i)
{
	return i >> 15 << 28 | UINT32_C(7) << 25 | (i & 0x7fff) << 10 | 1 << 5;
}

/* the exceptions that the code raises, on one value or another */
static uint64_t run_all(void)
{
	static const uint64_t values[] = {
		UINT64_C(0x7ff4000000000001), UINT64_C(0x7fa000017fa00001),
		UINT64_C(0x7d017d017d017d01), UINT64_C(0x0010000000000001),
		UINT64_C(0x0000000100000001), UINT64_C(0xffa0ffa0ffa0ffa0),
	};
	uint64_t raised = 0;

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		raised |= run_code(code, values[i]);
	return raised & RAISED;
}

/* whether the code raises an exception; -1: it is no instruction */
static int raises(void)
{
	return sigsetjmp(illegal, 1) ? -1 : run_all() != 0;
}

int main(void)
{
	struct sigaction a = {.sa_handler = on_illegal};

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED) {
		perror("a64-exceptions: mmap");
		return 2;
	}
	sigaction(SIGILL, &a, NULL);
	code[1] = RET;
	for (uint32_t i = 0; i < WORDS; i++) {
		int r;

		code[0] = word(i);
		__builtin___clear_cache((char *)code, (char *)(code + 1));
		r = raises();
		if (r >= 0)
			printf("%08x %d\n", __builtin_bswap32(code[0]), r);
	}
	return 0;
}
