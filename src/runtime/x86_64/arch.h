/*
 * arch: Linux system calls and struct stat on x86-64. The numbers are the
 * kernel's, from its syscall_64.tbl.
 */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

#include <stddef.h>
#include <stdint.h>

enum {
	ARCH_ELF = 62, /* e_machine */
	ARCH_O_NOFOLLOW = 0400000,

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
	SYS_SCHED_YIELD = 24,
	SYS_MREMAP = 25,
	SYS_MINCORE = 27,
	SYS_MADVISE = 28,
	SYS_GETPID = 39,
	SYS_CLONE = 56,
	SYS_FORK = 57,
	SYS_VFORK = 58,
	SYS_EXECVE = 59,
	SYS_EXIT = 60,
	SYS_WAIT4 = 61,
	SYS_KILL = 62,
	SYS_FCNTL = 72,
	SYS_FTRUNCATE = 77,
	SYS_GETCWD = 79,
	SYS_RT_SIGTIMEDWAIT = 128,
	SYS_FSTATFS = 138,
	SYS_PRCTL = 157,
	SYS_ARCH_PRCTL = 158,
	SYS_GETTID = 186,
	SYS_FGETXATTR = 193,
	SYS_FUTEX = 202,
	SYS_GETDENTS64 = 217,
	SYS_CLOCK_GETTIME = 228,
	SYS_EXIT_GROUP = 231,
	SYS_TGKILL = 234,
	SYS_OPENAT = 257,
	SYS_NEWFSTATAT = 262,
	SYS_UNLINKAT = 263,
	SYS_READLINKAT = 267,
	SYS_FALLOCATE = 285,
	SYS_RT_TGSIGQUEUEINFO = 297,
	SYS_PRLIMIT64 = 302,
	SYS_GETCPU = 309,
	SYS_SECCOMP = 317,
	SYS_EXECVEAT = 322,
	SYS_CLONE3 = 435,
	SYS_FACCESSAT2 = 439,
};

/* relocations that make a word the address of a symbol: types */
enum {
	ARCH_RELOC_WORD = 1, /* R_X86_64_64 */
	ARCH_RELOC_DATA = 6, /* R_X86_64_GLOB_DAT */
	ARCH_RELOC_CALL = 7, /* R_X86_64_JUMP_SLOT */
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

/*
 * What a hook hands over (isa/x64/insert/hook.c). Behind a system call, its
 * result is in the place of its number.
 */
struct arch_hook {
	unsigned long arg[6], nr, r11, rcx, flags, fp, back;
};

struct launch_env;
/* calls f(g, h) on the stack that ends at `top` */
static inline void arch_run_on(void *top,
			       void (*f)(struct arch_hook *g,
					 const struct launch_env *h),
			       struct arch_hook *g, const struct launch_env *h)
{
	__asm__ volatile("mov %%rsp, %%rbx\n"
			 "mov %2, %%rsp\n"
			 "call *%3\n"
			 "mov %%rbx, %%rsp\n"
			 : "+D"(g), "+S"(h), "+a"(top), "+d"(f)
			 :
			 : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory",
			   "cc");
}

enum { ARCH_JUMP_REG = 5 }; /* bits: isa/move.h, TELL_REG */

/*
 * What the hook before a jump or call through a register or memory shows
 * (isa/x64/insert/tell.c): where its call returns to, and where the jump leads
 * or, with a table of ours, its index.
 */
struct arch_jump {
	const uint8_t *back;
	unsigned long pushed;
};

/* what the call of the hook says: in an instruction that does nothing */
static inline unsigned arch_jump_what(const struct arch_jump *j)
{
	unsigned what;

	__builtin_memcpy(&what, j->back + 4, sizeof what);
	return what;
}

/* bytes of an instruction of the kinds that are between hook and table */
static inline unsigned arch_skip(const uint8_t *p)
{
	switch (p[0]) {
	case 0x0f: /* nopl disp32(%rax,%rax) */
		return 8;
	case 0x90: /* nop */
		return 1;
	case 0x04: /* add $127, %al; sahf */
		return 3;
	}
	if (p[1] >> 4 == 9) /* xchg */
		return 2;
	/* mov disp8(%rsp), reg; lea disp32(%rsp), %rsp */
	return p[1] == 0x8b ? 5 : 8;
}

/* lea table(%rip), s; movslq (s,index,4), v; lea (s,v), s; jmp *s */
static inline unsigned long arch_jump_table(const struct arch_jump *j)
{
	const uint8_t *p = j->back;
	const int *table;
	int distance;

	while (!((p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 5))
		p += arch_skip(p);
	__builtin_memcpy(&distance, p + 3, sizeof distance);
	table = (const int *)(p + 7 + distance);
	return (unsigned long)table + (unsigned long)(long)table[j->pushed];
}

/* where the jump leads */
static inline unsigned long arch_jump_target(const struct arch_jump *j)
{
	return (arch_jump_what(j) & 31) == 31 ? arch_jump_table(j) : j->pushed;
}

/* which argument of the system call names a file; -1: none */
static inline int arch_path(const struct arch_hook *g)
{
	switch (g->nr) {
	case 2:	 /* open */
	case 4:	 /* stat */
	case 6:	 /* lstat */
	case 21: /* access */
	case 89: /* readlink */
	case SYS_EXECVE:
		return 0;
	case SYS_OPENAT:
	case SYS_NEWFSTATAT:
	case SYS_READLINKAT:
	case 269: /* faccessat */
	case SYS_EXECVEAT:
	case 332: /* statx */
	case 437: /* openat2 */
	case SYS_FACCESSAT2:
		return 1;
	}
	return -1;
}

/* files may have other names behind it, or be forbidden */
static inline _Bool arch_loses_files(const struct arch_hook *g)
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

/*
 * The call makes a thread or process, other than by clone3(): what it asks
 * for, and the new thread's pointer, if it is told.
 */
static inline _Bool arch_clone(const struct arch_hook *g, uint64_t *flags,
			       uintptr_t *tls)
{
	enum { VM_AND_VFORK = 0x4100 };

	*flags = g->nr == SYS_CLONE ? g->arg[0] :
		 g->nr == SYS_VFORK ? VM_AND_VFORK : 0;
	*tls = g->arg[4];
	return g->nr == SYS_CLONE || g->nr == SYS_FORK || g->nr == SYS_VFORK;
}

/* what a system call answered */
static inline long arch_result(const struct arch_hook *g)
{
	return (long)g->nr;
}

/* --- threads */

enum {
	ARCH_SET_GS = 0x1001,
	ARCH_SET_FS = 0x1002,
	ARCH_GET_FS = 0x1003,
	ARCH_GET_GS = 0x1004,
};

/* may user code read and write the bases of fs and gs? By AT_HWCAP2 */
static inline _Bool arch_is_quick(uint64_t hwcap2)
{
	return hwcap2 >> 1 & 1;
}

static inline unsigned long arch_base(long which)
{
	unsigned long base = 0;

	arch_call(SYS_ARCH_PRCTL, which, (long)&base, 0, 0, 0);
	return base;
}

/* the thread pointer; `quick`: without the kernel */
static inline unsigned long arch_thread(_Bool quick)
{
	unsigned long base;

	if (!quick)
		return arch_base(ARCH_GET_FS);
	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

/* no instruction zeroes a block whose size the machine has */
static inline unsigned long arch_block(void)
{
	return 0;
}

static inline void arch_set_thread(const void *tp)
{
	arch_call(SYS_ARCH_PRCTL, ARCH_SET_FS, (long)tp, 0, 0, 0);
}

/*
 * The distance to a thread's counters is the base of gs. Only the thread itself
 * can change that.
 */
enum { ARCH_SLOT_OWN = 1 };

static inline int64_t *arch_slot_of(uintptr_t thread)
{
	(void)thread;
	return NULL;
}

static inline int64_t arch_slot(_Bool quick)
{
	unsigned long base;

	if (!quick)
		return (int64_t)arch_base(ARCH_GET_GS);
	__asm__ volatile("rdgsbase %0" : "=r"(base));
	return (int64_t)base;
}

static inline void arch_set_slot(_Bool quick, int64_t slot)
{
	if (quick)
		__asm__ volatile("wrgsbase %0" : : "r"(slot));
	else
		arch_call(SYS_ARCH_PRCTL, ARCH_SET_GS, slot, 0, 0, 0);
}

/*
 * This thread's own copy of words of an object. The word `self` there is an
 * address of it, too, by which it is found without a system call.
 */
static inline uint64_t *arch_own_words(uint64_t *words, unsigned self,
				       _Bool above, _Bool quick)
{
	uint64_t *own;

	(void)above;
	if (quick)
		return (uint64_t *)((uintptr_t)words +
				    (uintptr_t)arch_slot(1));
	__asm__ volatile("movq %%gs:(%1), %0" : "=r"(own) : "r"(&words[self]));
	return own;
}

/* the program wants gs for itself, or to see it */
static inline _Bool arch_takes_slot(const struct arch_hook *g)
{
	return g->nr == SYS_ARCH_PRCTL &&
	       (g->arg[0] == ARCH_SET_GS || g->arg[0] == ARCH_GET_GS);
}

/* --- counting code, see isa/x64/insert/counter.c */

enum {
	ARCH_COUNTS_FOR_THREADS = 1, /* from the beginning */
	ARCH_SITE_SIZE = 24, /* of what changes, at most */
	ARCH_THREAD_ROOM = 0,

	ARCH_PREFIX_GS = 0x65,
	ARCH_PREFIX_NONE = 0x3e, /* ds: means nothing in this mode */
};

/* there is no room to be in */
static inline uint32_t arch_in_room(uintptr_t at)
{
	return (uint32_t)at;
}

/* an access to disp32(%rip) with that opcode and prefix */
static inline _Bool arch_is_access(const uint8_t *p, unsigned op)
{
	return (p[0] == ARCH_PREFIX_GS || p[0] == ARCH_PREFIX_NONE) &&
	       (p[1] & 0xfb) == 0x48 && p[2] == op && (p[3] & 0xc7) == 5;
}

/* code that adds a constant to a counter */
struct arch_addition {
	int32_t constant;
	unsigned store; /* where its store begins, 0: it is one instruction */
	unsigned size;  /* bytes; 0: it is something else */
};

/* a constant at p[at], of one byte or four, ends the instruction */
static inline unsigned arch_constant(const uint8_t *p, unsigned at,
				     _Bool byte, int32_t *constant)
{
	if (byte)
		*constant = (int8_t)p[at];
	else
		__builtin_memcpy(constant, p + at, sizeof *constant);
	return at + (byte ? 1 : 4);
}

static inline struct arch_addition arch_addition(const uint8_t *p)
{
	enum { ACCESS = 8, LEA = 3 };
	struct arch_addition x = {.constant = 1};

	if (arch_is_access(p, 0xff) && p[3] == 5) { /* incq */
		x.size = ACCESS;
	} else if ((arch_is_access(p, 0x83) || arch_is_access(p, 0x81)) &&
		   p[3] == 5) { /* addq */
		x.size = arch_constant(p, ACCESS, p[2] == 0x83, &x.constant);
	} else if (arch_is_access(p, 0x8b) && (p[ACCESS] & 0xfa) == 0x48 &&
		   p[ACCESS + 1] == 0x8d) { /* mov, lea, mov */
		x.store = arch_constant(p, ACCESS + LEA,
					p[ACCESS + 2] >> 6 == 1, &x.constant);
		x.size = arch_is_access(p + x.store, 0x89) ? x.store + ACCESS :
							      0;
	}
	return x;
}

/* what adds to the thread's counter adds to the object's own from now on */
static inline _Bool arch_change_count(void *site, void *room, _Bool subtract)
{
	uint8_t *p = site;
	struct arch_addition x = arch_addition(p);

	(void)room;
	(void)subtract;
	if (!x.size)
		return 0;
	/* one byte each: a thread that runs there sees the old or the new */
	if (x.store)
		__atomic_store_n(p + x.store, ARCH_PREFIX_NONE,
				 __ATOMIC_RELAXED);
	__atomic_store_n(p, ARCH_PREFIX_NONE, __ATOMIC_RELAXED);
	return 1;
}

/* the processor sees that by itself */
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

#include "arch_signals.h"

#endif
