/*
 * in-place: a procedure that knows where its call returns to, and so stays
 * where it is. It is called as often as the argument says.
 */
#include <stdio.h>
#include <stdlib.h>

/* does the caller know where it is called from? */
__attribute__((noinline)) long is_known(void *expected)
{
	return __builtin_return_address(0) == expected;
}

long stays(void);
#ifdef __aarch64__
__asm__(".text\n.globl stays\n.type stays, %function\n"
	"stays: .cfi_startproc\n"
	"stp x29, x30, [sp, #-16]!\n"
	".cfi_adjust_cfa_offset 16\n.cfi_offset 30, -8\n"
	"adr x0, 1f\n"
	"bl is_known\n"
	"1: ldp x29, x30, [sp], #16\n"
	"ret\n.cfi_endproc\n.size stays, . - stays\n");
#else
__asm__(".text\n.globl stays\n.type stays, @function\n"
	"stays: .cfi_startproc\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"
	"lea 1f(%rip), %rdi\n"
	"call is_known\n"
	"1: pop %rbx\n"
	"ret\n.cfi_endproc\n.size stays, . - stays\n");
#endif

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += stays();
	printf("%ld\n", sum);
	return 0;
}
