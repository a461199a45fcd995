/*
 * sys: the few system calls and string functions that the audit module needs;
 * there is no libc beside it. Names below AT_FDCWD are always absolute or
 * relative to the program's own working folder.
 */
#ifndef RUNTIME_SYS_H
#define RUNTIME_SYS_H

#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "abi/cache_record.h"

enum {
	SYS_AT_FDCWD = -100,
	SYS_O_RDWR = 02,
	SYS_O_CREAT = 0100,
	SYS_O_EXCL = 0200,
	SYS_O_NONBLOCK = 04000,
	SYS_O_CLOEXEC = 02000000,
	SYS_O_PATH = 010000000,
	SYS_ENOSYS = 38,
	SYS_EFAULT = 14,
	SYS_EINVAL = 22,
	SYS_EINTR = 4,
	SYS_ENOENT = 2,
	SYS_ESRCH = 3,
	SYS_EOPNOTSUPP = 95,
};

/* the running process, and the running thread */
static inline uint32_t sys_pid(void)
{
	return (uint32_t)arch_call(SYS_GETPID, 0, 0, 0, 0, 0);
}

static inline uint32_t sys_tid(void)
{
	return (uint32_t)arch_call(SYS_GETTID, 0, 0, 0, 0, 0);
}

/* bytes of the file, at most `max`; -errno if it cannot be read */
long sys_read_file(const char *path, void *to, size_t max);
/* a regular file's identity; false if it is none */
_Bool sys_file_id(const char *path, struct file_id *id);

/* zeroed memory, or NULL */
void *sys_map(size_t n);
void sys_unmap(const void *p, size_t n);
/*
 * Reserves n bytes of addresses from `at` on, for something to be moved there;
 * false if they are in use.
 */
_Bool sys_reserve(const void *at, size_t n);
/* puts zeroed memory of the process's own in the place of what is there */
_Bool sys_map_over(const void *at, size_t n);
/* n bytes of memory are from now on at another place; what was there is gone */
_Bool sys_move(const void *from, size_t n, const void *to);
/*
 * Can the 8 bytes at p be read? For what the program hands to the kernel: if
 * not, its call has to say so.
 */
_Bool sys_readable(const void *p);

size_t str_len(const char *s);
_Bool str_equal(const char *a, const char *b);
/* s starts with `prefix`; what follows it, or NULL */
const char *str_after(const char *s, const char *prefix);
/* writes a number in decimal digits, and a zero */
void str_number(char *to, long n);
/* what follows the last '/' */
const char *str_base(const char *path);

/* a string that is built up in a buffer; too much makes it `full` */
struct text {
	char *at;
	size_t n, max;
	_Bool full;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);

/*
 * clone: what a thread or process is made with, by any of the system calls
 * that do so.
 */

/* as linux/sched.h has them */
enum clone_flag {
	SYS_CLONE_VM = 0x100, /* it shares memory with its parent */
	SYS_CLONE_VFORK = 0x4000, /* its parent waits for its end or execve() */
	SYS_CLONE_SETTLS = 0x80000,
};

struct clone_call {
	uint64_t flags;
	uintptr_t tls; /* with SYS_CLONE_SETTLS: its thread pointer */
	_Bool stack;   /* it has another than its parent's */
};

/* false: the call is another, or cannot be read; `trust`: that it can be */
_Bool clone_read(const struct arch_hook *g, _Bool trust, struct clone_call *x);

#endif
