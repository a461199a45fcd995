/*
 * watch_arch: registers of a thread that this process traces, on AArch64.
 */
#ifndef RUNTIME_WATCH_ARCH_H
#define RUNTIME_WATCH_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "arch.h"

enum { WATCH_SVC = 0xd4000001 }; /* svc #0 */

struct watch_regs {
	unsigned long context[ARCH_UC_WORDS]; /* as a handler would get it */
	uintptr_t thread;		      /* its pointer */
	bool in_call;			      /* it waits in the kernel */
};

static inline bool watch_set(int tid, int set, void *to, size_t n)
{
	struct iovec v = {to, n};

	return !ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &v) &&
	       v.iov_len == n;
}

/*
 * Of a system call that a signal ends, the kernel takes the number away, and
 * goes back to its instruction if that were to be done again. A thread there
 * has either been in it, which is where threads wait, or was just about to do
 * it: that is not told, and means one instruction.
 */
static inline bool watch_in_call(int tid, uintptr_t pc)
{
	int nr;
	long word;

	if (watch_set(tid, NT_ARM_SYSTEM_CALL, &nr, sizeof nr) && nr != -1)
		return true;
	word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(pc & -8ul), NULL);
	return (uint32_t)(word >> (pc & 4) * 8) == WATCH_SVC;
}

static inline bool watch_set_pc(int tid, uintptr_t pc)
{
	unsigned long all[34];
	struct iovec v = {all, sizeof all};

	if (!watch_set(tid, NT_PRSTATUS, all, sizeof all))
		return false;
	all[32] = pc;
	return !ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS,
		       &v);
}

static inline bool watch_regs(int tid, struct watch_regs *r)
{
	unsigned long all[34]; /* x0 .. x30, sp, pc, flags */

	if (!watch_set(tid, NT_PRSTATUS, all, sizeof all) ||
	    !watch_set(tid, NT_ARM_TLS, &r->thread, sizeof r->thread))
		return false;
	memset(r->context, 0, sizeof r->context);
	memcpy(r->context + ARCH_UC_REGS, all,
	       (ARCH_UC_WORDS - ARCH_UC_REGS) * sizeof *all);
	r->in_call = watch_in_call(tid, arch_pc(r->context));
	return true;
}

/* nothing that a program sees tells that it is stepped */
struct watch_step {
	int none;
};

static inline void watch_step_begins(int tid, struct watch_step *s)
{
	(void)tid;
	s->none = 0;
}

static inline bool watch_step_ends(int tid, const struct watch_step *s)
{
	(void)tid;
	(void)s;
	return false;
}

#endif
