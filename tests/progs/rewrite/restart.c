/*
 * restart: a counter that threads on one CPU increment in restartable
 * sequences, slow ones, so that many are disturbed. Who is not restarted then
 * writes over what others have counted.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/rseq.h>

enum { THREADS = 3, TIMES = 5000 };

static long counter;

#define DESCRIPTOR                                                      \
	".pushsection __rseq_cs, \"aw\"\n.balign 32\n"                  \
	"3: .long 0, 0\n.quad 1f, 2f - 1f, 4f\n.popsection\n"

/* false: it was disturbed, and nothing has happened */
static int increment(struct rseq *r)
{
#if defined(__aarch64__)
	__asm__ goto(DESCRIPTOR
		     "adrp x9, 3b\nadd x9, x9, :lo12:3b\nstr x9, [%0]\n"
		     "1: ldr x10, [%1]\nmov x11, #20000\n"
		     "5: subs x11, x11, #1\nb.ne 5b\n"
		     "add x10, x10, #1\nstr x10, [%1]\n2:\n"
		     ".pushsection __rseq_failure, \"ax\"\n"
		     ".long 0xd428bc00\n4: b %l[disturbed]\n.popsection\n"
		     :
		     : "r"(&r->rseq_cs), "r"(&counter)
		     : "memory", "x9", "x10", "x11", "cc"
		     : disturbed);
#else
	__asm__ goto(DESCRIPTOR
		     "leaq 3b(%%rip), %%rax\nmovq %%rax, (%0)\n"
		     "1: movq (%1), %%rax\nmovl $20000, %%ecx\n"
		     "5: decl %%ecx\njnz 5b\n"
		     "incq %%rax\nmovq %%rax, (%1)\n2:\n"
		     ".pushsection __rseq_failure, \"ax\"\n"
		     ".byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"
		     "4: jmp %l[disturbed]\n.popsection\n"
		     :
		     : "r"(&r->rseq_cs), "r"(&counter)
		     : "memory", "rax", "rcx", "cc"
		     : disturbed);
#endif
	return 1;
disturbed:
	return 0;
}

static void *run(void *none)
{
	struct rseq *r = (struct rseq *)((char *)__builtin_thread_pointer() +
					 __rseq_offset);

	for (int i = 0; i < TIMES; i++)
		while (!increment(r))
			;
	return none;
}

int main(void)
{
	pthread_t t[THREADS];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	if (!__rseq_size) {
		puts("no restartable sequences here");
		return 0;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", counter);
	return 0;
}
