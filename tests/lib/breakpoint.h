/*
 * breakpoint: what one is on the machine at hand, and where a thread is that
 * stands at one; its registers and its memory, and where its program begins.
 */
#ifndef TEST_BREAKPOINT_H
#define TEST_BREAKPOINT_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

/* a breakpoint's bytes, and how far behind its place who hit it stands */
#if defined(__x86_64__)
enum { TRAP_BYTES = 1, TRAP_SKIP = 1 };
static const uint8_t trap_code[] = {0xcc};
#define REGISTER_PC rip
#define REGISTER_SP rsp

static inline bool is_trap(const uint8_t *c)
{
	return c[0] == trap_code[0];
}
#elif defined(__aarch64__)
enum { TRAP_BYTES = 4, TRAP_SKIP = 0 };
static const uint8_t trap_code[] = {0x00, 0x00, 0x20, 0xd4}; /* brk #0 */
#define REGISTER_PC pc
#define REGISTER_SP sp

/* with any number */
static inline bool is_trap(const uint8_t *c)
{
	return !(c[0] & 0x1f) && (c[2] & 0xe0) == 0x20 && c[3] == 0xd4;
}
#else
#error "an x86-64 or AArch64 host"
#endif

/* all 0 if the thread is gone */
static inline void get_registers(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = {r, sizeof *r};

	memset(r, 0, sizeof *r);
	ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v);
}

static inline void set_registers(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = {r, sizeof *r};

	ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v);
}

/* the thread's program counter; 0 if it is gone */
static inline uint64_t get_pc(pid_t tid)
{
	struct user_regs_struct r;

	get_registers(tid, &r);
	return r.REGISTER_PC;
}

static inline void set_pc(pid_t tid, uint64_t pc)
{
	struct user_regs_struct r;

	get_registers(tid, &r);
	r.REGISTER_PC = pc;
#if defined(__x86_64__)
	/* not a system call to be restarted */
	r.orig_rax = ~0ull;
#endif
	set_registers(tid, &r);
}

/* the entry point of the process's program; 0 if nobody says */
static inline uint64_t entry_of(pid_t pid)
{
	char name[64];
	uint64_t pair[2] = {AT_NULL, 0};
	int fd;

	snprintf(name, sizeof name, "/proc/%d/auxv", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	while (read(fd, pair, sizeof pair) == sizeof pair)
		if (pair[0] == AT_ENTRY)
			break;
	close(fd);
	return pair[0] == AT_ENTRY ? pair[1] : 0;
}

/* a descriptor of the memory of a traced process */
static inline int memory_of(pid_t tid)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/mem", tid);
	return open(name, O_RDWR | O_CLOEXEC);
}

#endif
