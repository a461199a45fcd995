/*
 * a64-run: run single instructions on this machine.
 *
 * Reads trials (tests/lib/a64_state.h) from standard input, runs each with
 * the registers and flags it asks for, and writes results. For AArch64 only.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "a64_state.h"

static sigjmp_buf illegal;

/* the state that run_slot() loads and stores; it knows the offsets */
struct state {
	uint64_t x[A64_NREGS]; /* 0 */
	uint64_t sp;           /* 224 */
	uint64_t nzcv;         /* 232 */
	uint64_t saved_sp;     /* 240 */
};

/* run the code at `code` with state s; x28 and x29 keep the two */
void run_slot(struct state *s, const void *code);

__asm__(".text\n"
	".globl run_slot\n"
	"run_slot:\n"
	"	stp	x19, x20, [sp, #-96]!\n"
	"	stp	x21, x22, [sp, #16]\n"
	"	stp	x23, x24, [sp, #32]\n"
	"	stp	x25, x26, [sp, #48]\n"
	"	stp	x27, x28, [sp, #64]\n"
	"	stp	x29, x30, [sp, #80]\n"
	"	mov	x28, x0\n"
	"	mov	x29, x1\n"
	"	mov	x2, sp\n"
	"	ldp	x3, x4, [x28, #224]\n"
	"	str	x2, [x28, #240]\n"
	"	mov	sp, x3\n"
	"	msr	nzcv, x4\n"
	"	ldp	x0, x1, [x28]\n"
	"	ldp	x2, x3, [x28, #16]\n"
	"	ldp	x4, x5, [x28, #32]\n"
	"	ldp	x6, x7, [x28, #48]\n"
	"	ldp	x8, x9, [x28, #64]\n"
	"	ldp	x10, x11, [x28, #80]\n"
	"	ldp	x12, x13, [x28, #96]\n"
	"	ldp	x14, x15, [x28, #112]\n"
	"	ldp	x16, x17, [x28, #128]\n"
	"	ldp	x18, x19, [x28, #144]\n"
	"	ldp	x20, x21, [x28, #160]\n"
	"	ldp	x22, x23, [x28, #176]\n"
	"	ldp	x24, x25, [x28, #192]\n"
	"	ldp	x26, x27, [x28, #208]\n"
	"	blr	x29\n"
	"	stp	x0, x1, [x28]\n"
	"	stp	x2, x3, [x28, #16]\n"
	"	stp	x4, x5, [x28, #32]\n"
	"	stp	x6, x7, [x28, #48]\n"
	"	stp	x8, x9, [x28, #64]\n"
	"	stp	x10, x11, [x28, #80]\n"
	"	stp	x12, x13, [x28, #96]\n"
	"	stp	x14, x15, [x28, #112]\n"
	"	stp	x16, x17, [x28, #128]\n"
	"	stp	x18, x19, [x28, #144]\n"
	"	stp	x20, x21, [x28, #160]\n"
	"	stp	x22, x23, [x28, #176]\n"
	"	stp	x24, x25, [x28, #192]\n"
	"	stp	x26, x27, [x28, #208]\n"
	"	mov	x3, sp\n"
	"	mrs	x4, nzcv\n"
	"	stp	x3, x4, [x28, #224]\n"
	"	ldr	x2, [x28, #240]\n"
	"	mov	sp, x2\n"
	"	ldp	x21, x22, [sp, #16]\n"
	"	ldp	x23, x24, [sp, #32]\n"
	"	ldp	x25, x26, [sp, #48]\n"
	"	ldp	x27, x28, [sp, #64]\n"
	"	ldp	x29, x30, [sp, #80]\n"
	"	ldp	x19, x20, [sp], #96\n"
	"	ret\n");

/* leave an instruction that this machine does not have */
static void on_illegal(int sig)
{
	(void)sig;
	siglongjmp(illegal, 1);
}

/* readable and writable memory at a fixed address, or exit */
static uint8_t *map(uintptr_t addr, size_t size, int prot)
{
	void *p =
		mmap((void *)addr, size, prot,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (void *)addr) {
		perror("a64-run: mmap");
		exit(2);
	}
	return p;
}

/* read every trial from standard input; their number in *n */
static struct a64_trial *read_trials(size_t *n)
{
	size_t room = 1024;
	struct a64_trial *t = malloc(room * sizeof(*t));

	for (*n = 0; t && fread(&t[*n], sizeof(*t), 1, stdin) == 1;)
		if (++*n == room)
			t = realloc(t, (room *= 2) * sizeof(*t));
	return t;
}

/* run one trial whose code lies at `code` */
static void run(const struct a64_trial *t, const uint8_t *code, uint8_t *data,
		struct a64_result *r)
{
	struct state s;

	memset(r, 0, sizeof(*r));
	memcpy(s.x, t->x, sizeof(s.x));
	s.sp = t->sp;
	s.nzcv = t->nzcv;
	if (sigsetjmp(illegal, 1)) {
		r->illegal = 1;
		return;
	}
	run_slot(&s, code);
	memcpy(r->x, s.x, sizeof(r->x));
	r->sp = s.sp;
	r->nzcv = s.nzcv & 0xf0000000;
	r->data = a64_sum(data, A64_DATA_SIZE);
}

int main(void)
{
	struct sigaction sa = {.sa_handler = on_illegal,
			       .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	uint8_t fresh[A64_DATA_SIZE];
	struct a64_result r;
	struct a64_trial *t;
	uint8_t *code, *data;
	size_t n;

	t = read_trials(&n);
	code = map(A64_CODE, (n + 1) * A64_SLOT,
		   PROT_READ | PROT_WRITE | PROT_EXEC);
	data = map(A64_DATA, A64_DATA_SIZE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < n; i++)
		memcpy(code + i * A64_SLOT, t[i].slot, A64_SLOT);
	__builtin___clear_cache((char *)code, (char *)code + n * A64_SLOT);
	for (unsigned i = 0; i < A64_DATA_SIZE; i++)
		fresh[i] = a64_data_byte(i);
	sigaltstack(&stack, NULL);
	sigaction(SIGILL, &sa, NULL);
	for (size_t i = 0; i < n; i++) {
		memcpy(data, fresh, sizeof(fresh));
		run(&t[i], code + i * A64_SLOT, data, &r);
		fwrite(&r, sizeof(r), 1, stdout);
	}
	return 0;
}
