/*
 * x64_machine: runs code natively, with all registers, flags and the stack as
 * the caller says, and tells what it left. Code goes back by a jump to
 * machine_back.
 */
#ifndef TESTS_X64_MACHINE_H
#define TESTS_X64_MACHINE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "splitmix.h"

enum {
	MACHINE_STATUS = 0x8d5, /* OF SF ZF AF PF CF */
	MACHINE_DIRECTION = 0x400,
	MACHINE_STACK = 65536,
	MACHINE_TOP = 32768, /* where rsp begins */
	MACHINE_ROOM = 65536, /* bytes of code */
};

struct machine {
	uint64_t reg[16]; /* as instructions number them */
	uint64_t flags;
};

/* code first; what it reaches by distance follows it */
struct machine_room {
	uint8_t code[MACHINE_ROOM];
	uint8_t data[MACHINE_ROOM];
	uint8_t stack[MACHINE_STACK];
};

void machine_enter(struct machine *m, const void *code);
void machine_back(void);

__asm__(".data\n"
	"machine_sp: .quad 0\n"
	"machine_at: .quad 0\n"
	"machine_code: .quad 0\n"
	"machine_rdi: .quad 0\n"
	".text\n"
	".globl machine_enter\n"
	"machine_enter:\n"
	"push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n"
	"push %r15\n"
	"mov %rsp, machine_sp(%rip)\n"
	"mov %rdi, machine_at(%rip)\n"
	"mov %rsi, machine_code(%rip)\n"
	"pushq 128(%rdi)\n popfq\n"
	"mov 0(%rdi), %rax\n mov 8(%rdi), %rcx\n mov 16(%rdi), %rdx\n"
	"mov 24(%rdi), %rbx\n mov 32(%rdi), %rsp\n mov 40(%rdi), %rbp\n"
	"mov 48(%rdi), %rsi\n mov 64(%rdi), %r8\n mov 72(%rdi), %r9\n"
	"mov 80(%rdi), %r10\n mov 88(%rdi), %r11\n mov 96(%rdi), %r12\n"
	"mov 104(%rdi), %r13\n mov 112(%rdi), %r14\n mov 120(%rdi), %r15\n"
	"mov 56(%rdi), %rdi\n"
	"jmp *machine_code(%rip)\n"
	".globl machine_back\n"
	"machine_back:\n"
	"mov %rdi, machine_rdi(%rip)\n"
	"mov machine_at(%rip), %rdi\n"
	"mov %rax, 0(%rdi)\n mov %rcx, 8(%rdi)\n mov %rdx, 16(%rdi)\n"
	"mov %rbx, 24(%rdi)\n mov %rsp, 32(%rdi)\n mov %rbp, 40(%rdi)\n"
	"mov %rsi, 48(%rdi)\n mov %r8, 64(%rdi)\n mov %r9, 72(%rdi)\n"
	"mov %r10, 80(%rdi)\n mov %r11, 88(%rdi)\n mov %r12, 96(%rdi)\n"
	"mov %r13, 104(%rdi)\n mov %r14, 112(%rdi)\n mov %r15, 120(%rdi)\n"
	"mov machine_rdi(%rip), %rax\n mov %rax, 56(%rdi)\n"
	"mov machine_sp(%rip), %rsp\n"
	"pushfq\n popq 128(%rdi)\n"
	"cld\n"
	"pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
	"ret\n");

static inline struct machine_room *machine_room(void)
{
	return mmap(NULL, sizeof(struct machine_room),
		    PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* registers, flags and stack are random but for rsp */
static inline struct machine machine_random(struct machine_room *r,
					    uint64_t *seed)
{
	struct machine m;

	for (unsigned i = 0; i < 16; i++)
		m.reg[i] = splitmix(seed);
	for (size_t i = 0; i < sizeof r->stack; i++)
		r->stack[i] = (uint8_t)splitmix(seed);
	m.reg[4] = (uintptr_t)r->stack + MACHINE_TOP - splitmix(seed) % 64 * 8;
	m.flags = 0x202 | (splitmix(seed) &
			   (MACHINE_STATUS | MACHINE_DIRECTION));
	return m;
}

/* runs n bytes at r->code + at; *m as it is behind them */
static inline void machine_run(struct machine_room *r, unsigned at, unsigned n,
			       struct machine *m)
{
	static const uint8_t jump[6] = {0xff, 0x25}; /* to what follows */
	void (*back)(void) = machine_back;

	memcpy(r->code + at + n, jump, sizeof jump);
	memcpy(r->code + at + n + sizeof jump, &back, sizeof back);
	machine_enter(m, r->code + at);
}

#endif
