/*
 * arch: Linux system calls and struct stat on AArch64. The numbers are the
 * kernel's, from asm-generic/unistd.h.
 */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

enum {
	ARCH_ELF = 183, /* e_machine */
	ARCH_O_NOFOLLOW = 0100000,
	/*
	 * A word of every thread that is ours, at this distance from the
	 * thread pointer: the ABI's 16 bytes there are the C library's, and
	 * neither glibc nor musl uses the second half.
	 */
	ARCH_SLOT = 8,

	SYS_FGETXATTR = 10,
	SYS_GETCWD = 17,
	SYS_FCNTL = 25,
	SYS_FALLOCATE = 47,
	SYS_OPENAT = 56,
	SYS_CLOSE = 57,
	SYS_READ = 63,
	SYS_PREAD64 = 67,
	SYS_PWRITE64 = 68,
	SYS_NEWFSTATAT = 79,
	SYS_EXIT = 93,
	SYS_EXIT_GROUP = 94,
	SYS_FUTEX = 98,
	SYS_GETPID = 172,
	SYS_RT_SIGPROCMASK = 135,
	SYS_RT_SIGTIMEDWAIT = 137,
	SYS_PRCTL = 167,
	SYS_BRK = 214,
	SYS_MUNMAP = 215,
	SYS_MREMAP = 216,
	SYS_CLONE = 220,
	SYS_EXECVE = 221,
	SYS_MMAP = 222,
	SYS_WAIT4 = 260,
	SYS_MINCORE = 232,
	SYS_PRLIMIT64 = 261,
	SYS_SECCOMP = 277,
	SYS_EXECVEAT = 281,
	SYS_CLONE3 = 435,
	SYS_FACCESSAT2 = 439,
};

/* what a gate hands over (isa/a64/gate.c) */
struct arch_gate {
	unsigned long arg[8], nr, x9_x15[7], fp, lr, flags, x18;
};

/* which argument of the system call names a file; -1: none */
static inline int arch_path(const struct arch_gate *g)
{
	switch (g->nr) {
	case SYS_EXECVE:
		return 0;
	case 48:  /* faccessat */
	case SYS_OPENAT:
	case 78:  /* readlinkat */
	case SYS_NEWFSTATAT:
	case SYS_EXECVEAT:
	case 291: /* statx */
	case 437: /* openat2 */
	case SYS_FACCESSAT2:
		return 1;
	}
	return -1;
}

/* files may have other names behind it, or be forbidden */
static inline _Bool arch_loses_files(const struct arch_gate *g)
{
	switch (g->nr) {
	case 41:  /* pivot_root */
	case 51:  /* chroot */
	case 97:  /* unshare */
	case 144: /* setgid */
	case 145: /* setreuid */
	case 146: /* setuid */
	case 147: /* setresuid */
	case 149: /* setresgid */
	case 268: /* setns */
		return 1;
	}
	return 0;
}

/* where clone() is told the new thread's pointer to be */
static inline unsigned long arch_clone_tls(const struct arch_gate *g)
{
	return g->arg[3];
}

/* what a system call answered */
static inline long arch_result(const struct arch_gate *g)
{
	return (long)g->arg[0];
}

static inline unsigned long arch_thread(void)
{
	unsigned long tp;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

static inline void arch_set_thread(const void *tp)
{
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(tp));
}

struct kernel_stat {
	unsigned long st_dev, st_ino;
	unsigned int st_mode, st_nlink, st_uid, st_gid;
	unsigned long st_rdev, pad1;
	long st_size;
	int st_blksize, pad2;
	long st_blocks;
	unsigned long st_atime_s, st_atime_ns, st_mtime_s, st_mtime_ns;
	unsigned long st_ctime_s, st_ctime_ns;
	unsigned int unused[2];
};

/* what the kernel answers: a value, or -errno */
static inline long arch_call6(long nr, long a, long b, long c, long d, long e,
			      long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			   "r"(x5)
			 : "memory", "cc");
	return x0;
}

static inline long arch_call(long nr, long a, long b, long c, long d, long e)
{
	return arch_call6(nr, a, b, c, d, e, 0);
}

#endif
