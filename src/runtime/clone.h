/*
 * clone: what a thread or process is made with, by any of the system calls
 * that do so.
 */
#ifndef RUNTIME_CLONE_H
#define RUNTIME_CLONE_H

#include <stdint.h>

struct arch_hook;

/* as linux/sched.h has them */
enum clone_flag {
	CLONE_VM = 0x100, /* it shares memory with its parent */
	CLONE_VFORK =
		0x4000, /* its parent waits for its end or execve() */
	CLONE_SETTLS = 0x80000,
};

struct clone_call {
	uint64_t flags;
	uintptr_t tls; /* with CLONE_SETTLS: its thread pointer */
	_Bool stack;   /* it has another than its parent's */
};

/* false: the call is another, or cannot be read; `trust`: that it can be */
_Bool clone_read(const struct arch_hook *g, _Bool trust, struct clone_call *x);

#endif
