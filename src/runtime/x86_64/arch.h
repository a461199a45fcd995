/*
 * arch: Linux system calls and struct stat on x86-64. The numbers are the
 * kernel's, from its syscall_64.tbl.
 */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

enum {
	ARCH_ELF = 62, /* e_machine */
	ARCH_O_NOFOLLOW = 0400000,
	ARCH_SLOT = 0x38, /* a word of every thread that glibc leaves alone */

	SYS_READ = 0,
	SYS_CLOSE = 3,
	SYS_MMAP = 9,
	SYS_MPROTECT = 10,
	SYS_MUNMAP = 11,
	SYS_BRK = 12,
	SYS_RT_SIGACTION = 13,
	SYS_RT_SIGPROCMASK = 14,
	SYS_PREAD64 = 17,
	SYS_PWRITE64 = 18,
	SYS_MREMAP = 25,
	SYS_MINCORE = 27,
	SYS_GETPID = 39,
	SYS_CLONE = 56,
	SYS_EXECVE = 59,
	SYS_EXIT = 60,
	SYS_WAIT4 = 61,
	SYS_FCNTL = 72,
	SYS_GETCWD = 79,
	SYS_RT_SIGTIMEDWAIT = 128,
	SYS_PRCTL = 157,
	SYS_GETTID = 186,
	SYS_FGETXATTR = 193,
	SYS_FUTEX = 202,
	SYS_GETDENTS64 = 217,
	SYS_EXIT_GROUP = 231,
	SYS_TGKILL = 234,
	SYS_OPENAT = 257,
	SYS_NEWFSTATAT = 262,
	SYS_FALLOCATE = 285,
	SYS_RT_TGSIGQUEUEINFO = 297,
	SYS_PRLIMIT64 = 302,
	SYS_SECCOMP = 317,
	SYS_EXECVEAT = 322,
	SYS_CLONE3 = 435,
	SYS_FACCESSAT2 = 439,
};

/* what a gate hands over: there are none on this machine yet */
struct arch_gate {
	unsigned long arg[6], nr;
};

enum { ARCH_JUMP_REG = 5 }; /* bits: isa/move.h, TELL_REG */

/* and none of these */
struct arch_jump {
	unsigned long rip;
};

static inline unsigned arch_jump_what(const struct arch_jump *j)
{
	(void)j;
	return 0;
}

static inline unsigned long arch_jump_target(const struct arch_jump *j)
{
	return j->rip;
}

/* which argument of the system call names a file; -1: none */
static inline int arch_path(const struct arch_gate *g)
{
	switch (g->nr) {
	case SYS_EXECVE:
		return 0;
	case SYS_OPENAT:
	case SYS_NEWFSTATAT:
	case 267: /* readlinkat */
	case SYS_EXECVEAT:
		return 1;
	}
	return -1;
}

/* files may have other names behind it, or be forbidden */
static inline _Bool arch_loses_files(const struct arch_gate *g)
{
	switch (g->nr) {
	case 105: /* setuid */
	case 106: /* setgid */
	case 113: /* setreuid */
	case 117: /* setresuid */
	case 119: /* setresgid */
	case 155: /* pivot_root */
	case 161: /* chroot */
	case 272: /* unshare */
	case 308: /* setns */
		return 1;
	}
	return 0;
}

/* where clone() is told the new thread's pointer to be */
static inline unsigned long arch_clone_tls(const struct arch_gate *g)
{
	return g->arg[4];
}

static inline uintptr_t arch_gate_frame(const struct arch_gate *g)
{
	(void)g;
	return 0;
}

enum { ARCH_JUMP_FRAME = 1 };

/* what a system call answered */
static inline long arch_result(const struct arch_gate *g)
{
	return (long)g->nr;
}

static inline unsigned long arch_thread(void)
{
	unsigned long tp;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* signal_arrives(): asks signal_real() and goes where that says */
#define ARCH_SIGNAL_ARRIVES                                                    \
	__asm__(".text\n"                                                      \
		".globl signal_arrives\n"                                      \
		".hidden signal_arrives\n"                                     \
		".type signal_arrives, @function\n"                            \
		"signal_arrives:\n"                                            \
		".cfi_startproc\n"                                             \
		"push %rdi\n"                                                  \
		".cfi_adjust_cfa_offset 8\n"                                   \
		"push %rsi\n"                                                  \
		".cfi_adjust_cfa_offset 8\n"                                   \
		"push %rdx\n"                                                  \
		".cfi_adjust_cfa_offset 8\n"                                   \
		"call signal_real\n"                                           \
		"pop %rdx\n"                                                   \
		".cfi_adjust_cfa_offset -8\n"                                  \
		"pop %rsi\n"                                                   \
		".cfi_adjust_cfa_offset -8\n"                                  \
		"pop %rdi\n"                                                   \
		".cfi_adjust_cfa_offset -8\n"                                  \
		"jmp *%rax\n"                                                  \
		".cfi_endproc\n"                                               \
		".size signal_arrives, . - signal_arrives\n")

/* an increment is one instruction here */
static inline uintptr_t arch_increment(const void *context, uintptr_t *counter)
{
	(void)context;
	(void)counter;
	return 0;
}

static inline void arch_set_pc(void *context, uintptr_t pc)
{
	(void)context;
	(void)pc;
}

/* nothing is counted on this machine yet, so nobody's end is of interest */
enum { ARCH_NOTES_ENDS = 0 };

/* words of the kernel's ucontext */
enum {
	ARCH_UC_FRAME = 15, /* rbp */
	ARCH_UC_STACK = 20, /* rsp */
	ARCH_UC_PC = 21,
	ARCH_UC_WORDS, /* as far as we look */
};

static inline uintptr_t arch_pc(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_PC];
}

static inline uintptr_t arch_link(const void *context)
{
	(void)context;
	return 0;
}

static inline uintptr_t arch_frame(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_FRAME];
}

static inline uintptr_t arch_plain(uintptr_t at)
{
	return at;
}

static inline void arch_unblock(void *context, unsigned signal)
{
	(void)context;
	(void)signal;
}

enum { ARCH_COUNT_SIZE = 8, ARCH_THREAD_ROOM = 8, ARCH_THREAD_COUNTED = 8 };

/* counting code of this machine always asks for the thread's counter */
static inline _Bool arch_count_for_threads(void *site, void *room,
					   _Bool subtract)
{
	(void)site;
	(void)room;
	(void)subtract;
	return 0;
}

static inline void arch_new_code(const char *from, const char *to)
{
	(void)from;
	(void)to;
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
static inline long arch_call6(long nr, long a, long b, long c, long d, long e,
			      long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long arch_call(long nr, long a, long b, long c, long d, long e)
{
	return arch_call6(nr, a, b, c, d, e, 0);
}

#endif
