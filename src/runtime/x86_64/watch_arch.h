/*
 * watch_arch: registers of a thread that this process traces, on x86-64.
 */
#ifndef RUNTIME_WATCH_ARCH_H
#define RUNTIME_WATCH_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch.h"

struct watch_regs {
	unsigned long context[ARCH_UC_WORDS]; /* as a handler would get it */
	uintptr_t thread;		      /* its pointer */
	bool in_call;			      /* it waits in the kernel */
};

static inline bool watch_set_pc(int tid, uintptr_t pc)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return false;
	u.rip = pc;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &u);
}

static inline bool watch_regs(int tid, struct watch_regs *r)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return false;
	memset(r->context, 0, sizeof r->context);
	r->context[ARCH_UC_PC] = u.rip;
	r->context[ARCH_UC_SP] = u.rsp;
	r->thread = u.fs_base;
	/* what interrupts the program leaves none */
	r->in_call = (long)u.orig_rax >= 0;
	return true;
}

/*
 * A thread is stepped by a flag (TF). Instructions that save the flags save it,
 * too: pushf on the stack, syscall in a register. Behind one that sets the
 * flags (popf, iret) the kernel takes it for the program's own, until the
 * thread goes on otherwise than by a step.
 */
struct watch_step {
	uintptr_t pc;
	unsigned op; /* one of these, or 0 */
};

enum { WATCH_PUSHF = 0x9c, WATCH_POPF = 0x9d, WATCH_IRET = 0xcf,
       WATCH_SYSCALL = 0x050f, WATCH_SIGRETURN = 15, WATCH_FLAG = 0x100 };

/* the next instruction, if it saves or sets the flags */
static inline unsigned watch_flags_op(uint64_t code, uint64_t rax)
{
	/* sizes of operands: 66, and REX */
	while ((uint8_t)code == 0x66 || (code & 0xf0) == 0x40)
		code >>= 8;
	if ((uint16_t)code == WATCH_SYSCALL)
		return rax == WATCH_SIGRETURN ? WATCH_IRET : WATCH_SYSCALL;
	code &= 0xff;
	return code == WATCH_PUSHF || code == WATCH_POPF ||
			       code == WATCH_IRET ? (unsigned)code : 0;
}

static inline void watch_step_begins(int tid, struct watch_step *s)
{
	struct user_regs_struct u;

	*s = (struct watch_step){0};
	if (ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return;
	s->pc = u.rip;
	s->op = watch_flags_op((uint64_t)ptrace(PTRACE_PEEKTEXT, tid,
						(void *)s->pc, NULL), u.rax);
}

/* true: it has to stop once more, by a request, before the next step */
static inline bool watch_step_ends(int tid, const struct watch_step *s)
{
	const long flag = WATCH_FLAG;
	struct user_regs_struct u;
	long word;

	if (!s->op || ptrace(PTRACE_GETREGS, tid, NULL, &u) ||
	    u.rip == s->pc || u.eflags & (unsigned long)flag)
		return false;
	switch (s->op) {
	case WATCH_SYSCALL:
		u.r11 &= ~(unsigned long)flag;
		ptrace(PTRACE_SETREGS, tid, NULL, &u);
		return false;
	case WATCH_PUSHF:
		word = ptrace(PTRACE_PEEKDATA, tid, (void *)u.rsp, NULL);
		ptrace(PTRACE_POKEDATA, tid, (void *)u.rsp,
		       (void *)(word & ~flag));
		return false;
	}
	return true;
}

#endif
