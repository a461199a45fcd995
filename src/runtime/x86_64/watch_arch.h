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

#endif
