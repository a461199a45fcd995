/*
 * arch: Linux system calls and struct stat on x86-64. The numbers are the
 * kernel's, from its syscall_64.tbl.
 */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

enum {
	SYS_READ = 0,
	SYS_CLOSE = 3,
	SYS_BRK = 12,
	SYS_RT_SIGPROCMASK = 14,
	SYS_GETPID = 39,
	SYS_CLONE = 56,
	SYS_EXECVE = 59,
	SYS_WAIT4 = 61,
	SYS_GETCWD = 79,
	SYS_RT_SIGTIMEDWAIT = 128,
	SYS_PRCTL = 157,
	SYS_EXIT_GROUP = 231,
	SYS_OPENAT = 257,
	SYS_NEWFSTATAT = 262,
};

/* what a gate hands over: there are none on this machine yet */
struct arch_gate {
	unsigned long arg[6], nr;
};

/* which argument of the system call names a file; -1: none */
static inline int arch_path(const struct arch_gate *g)
{
	switch (g->nr) {
	case 59: /* execve */
		return 0;
	case 257: /* openat */
	case 262: /* newfstatat */
	case 267: /* readlinkat */
		return 1;
	}
	return -1;
}

struct kernel_stat {
	unsigned long st_dev, st_ino, st_nlink;
	unsigned int st_mode, st_uid, st_gid, pad0;
	unsigned long st_rdev;
	long st_size, st_blksize, st_blocks;
	unsigned long st_atime_s, st_atime_ns, st_mtime_s, st_mtime_ns;
	unsigned long st_ctime_s, st_ctime_ns;
	long unused[3];
};

/* what the kernel answers: a value, or -errno */
static inline long arch_call(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif
