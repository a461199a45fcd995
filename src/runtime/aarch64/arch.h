/*
 * arch: Linux system calls and struct stat on AArch64. The numbers are the
 * kernel's, from asm-generic/unistd.h.
 */
#ifndef RUNTIME_ARCH_H
#define RUNTIME_ARCH_H

#include <stddef.h>
#include <stdint.h>

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
	SYS_UNLINKAT = 35,
	SYS_FSTATFS = 44,
	SYS_FTRUNCATE = 46,
	SYS_FALLOCATE = 47,
	SYS_OPENAT = 56,
	SYS_CLOSE = 57,
	SYS_GETDENTS64 = 61,
	SYS_READ = 63,
	SYS_PREAD64 = 67,
	SYS_PWRITE64 = 68,
	SYS_READLINKAT = 78,
	SYS_NEWFSTATAT = 79,
	SYS_EXIT = 93,
	SYS_EXIT_GROUP = 94,
	SYS_CLOCK_GETTIME = 113,
	SYS_KILL = 129,
	SYS_GETCPU = 168,
	SYS_FUTEX = 98,
	SYS_SCHED_YIELD = 124,
	SYS_TGKILL = 131,
	SYS_GETPID = 172,
	SYS_GETTID = 178,
	SYS_RT_TGSIGQUEUEINFO = 240,
	SYS_RT_SIGACTION = 134,
	SYS_RT_SIGPROCMASK = 135,
	SYS_RT_SIGTIMEDWAIT = 137,
	SYS_PRCTL = 167,
	SYS_BRK = 214,
	SYS_MUNMAP = 215,
	SYS_MPROTECT = 226,
	SYS_MREMAP = 216,
	SYS_CLONE = 220,
	SYS_EXECVE = 221,
	SYS_MMAP = 222,
	SYS_WAIT4 = 260,
	SYS_MINCORE = 232,
	SYS_MADVISE = 233,
	SYS_PRLIMIT64 = 261,
	SYS_SECCOMP = 277,
	SYS_EXECVEAT = 281,
	SYS_CLONE3 = 435,
	SYS_FACCESSAT2 = 439,
};

/* relocations that make a word the address of a symbol: types */
enum {
	ARCH_RELOC_WORD = 257,	/* R_AARCH64_ABS64 */
	ARCH_RELOC_DATA = 1025, /* R_AARCH64_GLOB_DAT */
	ARCH_RELOC_CALL = 1026, /* R_AARCH64_JUMP_SLOT */
};

/* what a hook hands over (isa/a64/insert/hook.c) */
struct arch_hook {
	unsigned long arg[8], nr, x9_x15[7], fp, lr, flags, x18;
};

struct launch_env;
/* calls f(g, h) on the stack that ends at `top` */
static inline void arch_run_on(void *top,
			       void (*f)(struct arch_hook *g,
					 const struct launch_env *h),
			       struct arch_hook *g, const struct launch_env *h)
{
	register unsigned long x0 __asm__("x0") = (unsigned long)g;
	register unsigned long x1 __asm__("x1") = (unsigned long)h;
	register void *x2 __asm__("x2") = top;
	register void *x3 __asm__("x3") = (void *)f;

	__asm__ volatile("mov x19, sp\n"
			 "mov sp, x2\n"
			 "blr x3\n"
			 "mov sp, x19\n"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			 :
			 : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x19",
			   "x30", "memory", "cc");
}

/* which argument of the system call names a file; -1: none */
static inline int arch_path(const struct arch_hook *g)
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
static inline _Bool arch_loses_files(const struct arch_hook *g)
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

enum { ARCH_JUMP_REG = 5 }; /* bits: isa/move.h, TELL_REG */

/* all registers, before a jump or call through one of them */
struct arch_jump {
	unsigned long x[31], flags;
};

/* the code behind the hook's call begins with mov x30, reg */
static inline const unsigned *arch_jump_code(const struct arch_jump *j)
{
	return (const unsigned *)j->x[30];
}

/* what the call of the hook says (isa/move.h, tell) */
static inline unsigned arch_jump_what(const struct arch_jump *j)
{
	const unsigned *w = arch_jump_code(j);

	return (w[1] >> 5 & 0xffff) | (w[2] >> 5 & 0xffff) << 16;
}

/* a register as the jump will see it */
static inline unsigned long arch_jump_reg(const struct arch_jump *j,
					  unsigned reg)
{
	return j->x[reg == 30 ? arch_jump_code(j)[0] >> 16 & 31 : reg];
}

/* the number that adr and adrp add */
static inline long arch_adr_distance(unsigned w)
{
	return (long)((unsigned long)((w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3))
		      << 43) >> 43;
}

/*
 * Where a jump through a table of ours leads: adr s, table; or adrp and add;
 * ldrsw t, [s, index, extend #2]; add s, s, t; br s.
 */
static inline unsigned long arch_jump_table(const struct arch_jump *j)
{
	const unsigned *w = arch_jump_code(j) + 3;
	long base, index, distance;

	while ((*w & 0x1f000000) != 0x10000000) /* registers are restored */
		w++;
	base = (long)w;
	distance = arch_adr_distance(*w);
	if (*w++ >> 31)
		base = (base & -4096) + distance * 4096 + (*w++ >> 10 & 0xfff);
	else
		base += distance;
	index = (long)arch_jump_reg(j, *w >> 16 & 31);
	if (!(*w >> 13 & 1)) /* 32 bits of it */
		index = *w >> 15 & 1 ? (int)index : (long)(unsigned)index;
	return (unsigned long)(base + ((const int *)base)[index]);
}

/* where the jump leads; signatures in upper bits are left out */
static inline unsigned long arch_jump_target(const struct arch_jump *j)
{
	unsigned reg = arch_jump_what(j) & 31;

	return (reg == 31 ? arch_jump_table(j) : arch_jump_reg(j, reg)) &
	       0xfffffffffffful;
}

/*
 * The call makes a thread or process, other than by clone3(): what it asks
 * for, and the new thread's pointer, if it is told.
 */
static inline _Bool arch_clone(const struct arch_hook *g, uint64_t *flags,
			       uintptr_t *tls)
{
	*flags = g->arg[0];
	*tls = g->arg[3];
	return g->nr == SYS_CLONE;
}

static inline uintptr_t arch_hook_frame(const struct arch_hook *g)
{
	return g->fp;
}

/* the stack pointer where the hook was called (isa/a64/insert/hook.c) */
static inline uintptr_t arch_hook_stack(const struct arch_hook *g)
{
	enum { ASIDE = 144 };

	return (uintptr_t)(g + 1) + ASIDE;
}

/* where the hook comes back to */
static inline uintptr_t arch_hook_back(const struct arch_hook *g)
{
	return g->lr;
}

/* code keeps a chain of frame records */
enum { ARCH_FRAME_RECORDS = 1 };

/* the word of a jmp_buf with the frame pointer, of glibc and musl */
enum { ARCH_JUMP_FRAME = 10 };

static inline uintptr_t arch_jump_frame(uintptr_t word, uintptr_t frame)
{
	(void)frame;
	return word;
}

/* what a system call answered */
static inline long arch_result(const struct arch_hook *g)
{
	return (long)g->arg[0];
}

/* what takes no system call; everything, here */
static inline _Bool arch_is_quick(uint64_t hwcap2)
{
	(void)hwcap2;
	return 1;
}

/* the thread pointer */
static inline unsigned long arch_thread(_Bool quick)
{
	unsigned long tp;

	(void)quick;
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

/* bytes that dc zva zeroes; 0: it may not be used */
static inline unsigned long arch_block(void)
{
	enum { PROHIBITED = 1 << 4, WORDS = 15 }; /* as a power of 2 */
	unsigned long id;

	__asm__ volatile("mrs %0, dczid_el0" : "=r"(id));
	return id & PROHIBITED ? 0 : 4ul << (id & WORDS);
}

static inline void arch_set_thread(const void *tp)
{
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(tp));
}

/* others than the thread may change its slot */
enum { ARCH_SLOT_OWN = 0 };

/* where the distance to a thread's counters is */
static inline int64_t *arch_slot_of(uintptr_t thread)
{
	return (int64_t *)(thread + ARCH_SLOT);
}

static inline int64_t arch_slot(_Bool quick)
{
	return *arch_slot_of(arch_thread(quick));
}

static inline void arch_set_slot(_Bool quick, int64_t slot)
{
	*arch_slot_of(arch_thread(quick)) = slot;
}

/*
 * This thread's own copy of words of an object; `above`: the slot is
 * subtracted. (The word `self` there is an address of it, too.)
 */
static inline uint64_t *arch_own_words(uint64_t *words, unsigned self,
				       _Bool above, _Bool quick)
{
	uintptr_t slot = (uintptr_t)arch_slot(quick);

	(void)self;
	return (uint64_t *)((uintptr_t)words + (above ? -slot : slot));
}

/* whether the program wants the slot for itself: never, it is our own word */
static inline _Bool arch_takes_slot(const struct arch_hook *g)
{
	(void)g;
	return 0;
}

/*
 * signal_arrives(): asks signal_real() and goes where that says, with all that
 * the kernel gave. It also gave a frame record. If the handler sees another
 * address than that of the context (struct signal_context), it is called, and
 * signal_returned() is told when it comes back; else it returns by itself.
 */
#define ARCH_SIGNAL_ARRIVES                                                    \
	__asm__(".text\n"                                                      \
		".globl signal_arrives\n"                                      \
		".hidden signal_arrives\n"                                     \
		".type signal_arrives, %function\n"                            \
		"signal_arrives:\n"                                            \
		".cfi_startproc\n"                                             \
		"stp x0, x1, [sp, #-80]!\n"                                    \
		".cfi_adjust_cfa_offset 80\n"                                  \
		"stp x2, x30, [sp, #16]\n"                                     \
		".cfi_offset 30, -56\n"                                        \
		"str x29, [sp, #32]\n"                                         \
		"mov x3, x29\n"                                                \
		"add x4, sp, #48\n"                                            \
		"bl signal_real\n"                                             \
		"mov x16, x0\n"                                                \
		"ldr x17, [sp, #48]\n"                                         \
		"ldr x3, [sp, #72]\n"                                          \
		"orr x17, x17, x3\n"                                           \
		"ldp x0, x1, [sp]\n"                                           \
		"ldr x2, [sp, #16]\n"                                          \
		"cbnz x17, 1f\n"                                               \
		".cfi_remember_state\n"                                        \
		"ldr x29, [sp, #32]\n"                                         \
		"ldr x30, [sp, #24]\n"                                         \
		".cfi_restore 30\n"                                            \
		"add sp, sp, #80\n"                                            \
		".cfi_adjust_cfa_offset -80\n"                                 \
		"br x16\n"                                                     \
		".cfi_restore_state\n"                                         \
		"1: blr x16\n"                                                 \
		"ldr x0, [sp, #32]\n"                                          \
		"add x1, sp, #48\n"                                            \
		"bl signal_returned\n"                                         \
		"ldr x30, [sp, #24]\n"                                         \
		".cfi_restore 30\n"                                            \
		"add sp, sp, #80\n"                                            \
		".cfi_adjust_cfa_offset -80\n"                                 \
		"ret\n"                                                        \
		".cfi_endproc\n"                                               \
		".size signal_arrives, . - signal_arrives\n")

/* the stack pointer of the handler that signal_arrives() calls */
static inline uintptr_t arch_handler_sp(const void *shown)
{
	return (uintptr_t)shown - 48;
}

/*
 * Code of calls.S that was interrupted between the load and the store of a sum
 * begins anew at the load; else it goes on where it was.
 */
static inline uintptr_t arch_accumulation(uintptr_t pc)
{
	enum {
		LOAD = 0x00400000, /* makes a store one */
		STORES = 0x0a400000, /* of general registers, one or two */
		STORE = 0x08000000,
	};
	const unsigned *w = (const unsigned *)pc;

	for (int load = -1; load >= -3; load--)
		for (int store = 0; store - load <= 3; store++)
			if ((w[store] & STORES) == STORE &&
			    w[load] == (w[store] | LOAD))
				return (uintptr_t)(w + load);
	return pc;
}

/* a routine of calls.S asks which thread it is */
static inline void arch_ask_thread(void *routine, uint32_t branch)
{
	__atomic_store_n((uint32_t *)routine + 2, branch, __ATOMIC_RELAXED);
}

/* code that does nothing, in the place of a routine */
static inline void arch_silence(char *routine)
{
	(void)routine; /* threads of this machine always have counters */
}

/* handlers return by themselves, most of them */
#define ARCH_RESTORER 0
enum { ARCH_ACTION_FLAGS = 0, ARCH_SEES_RETURNS = 0 };
/* unwinders find the way over a handler's call in the tables of the module */
#ifdef RUNTIME_IS_ENTRY
enum { ARCH_CAN_SEE_RETURNS = 0 };
#else
enum { ARCH_CAN_SEE_RETURNS = 1 };
#endif

/* can signals that end the process be caught on the way? */
enum { ARCH_NOTES_ENDS = 1 };

/* words of the kernel's ucontext */
enum {
	ARCH_UC_MASK = 5,
	ARCH_UC_REGS = 23,
	ARCH_UC_PC = 55,
	ARCH_UC_WORDS, /* as far as we look */
};

static inline uintptr_t arch_pc(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_PC];
}

/* where the last call comes back to, if nothing was called since */
static inline uintptr_t arch_link(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_REGS + 30];
}

/* where a function returns to that has just been called */
static inline uintptr_t arch_return(const void *context)
{
	return arch_link(context);
}

/* the frame record that the frame pointer leads to */
static inline uintptr_t arch_frame(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_REGS + 29];
}

/* the stack pointer of the interrupted code */
static inline uintptr_t arch_stack(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_REGS + 31];
}

/* an address in code without what signs it */
static inline uintptr_t arch_plain(uintptr_t at)
{
	return at & 0xffffffffffff;
}

/* the signal is not blocked when the handler has returned */
static inline void arch_unblock(void *context, unsigned signal)
{
	((unsigned long *)context)[ARCH_UC_MASK] &= ~(1ul << (signal - 1));
}

static inline void arch_set_pc(void *context, uintptr_t pc)
{
	((unsigned long *)context)[ARCH_UC_PC] = pc;
}

/* add b, b, #constant, or sub */
static inline _Bool arch_adds(unsigned w, unsigned b)
{
	return (w & 0xbf8003ff) == (0x91000000 | b << 5 | b);
}

/*
 * Where the addition began, at its load, that was interrupted before its store;
 * 0 if it looks like none. *counter: what it would write to. It is a load, one
 * or two that add, and a store.
 */
static inline uintptr_t arch_increment(const void *context, uintptr_t *counter)
{
	const unsigned long *u = context;
	const unsigned *pc = (const unsigned *)u[ARCH_UC_PC], *w = pc, *end;
	unsigned b = w[0] & 31, a;

	if (!arch_adds(w[0], b) && (w[0] & 0xffc00000) != 0xf9000000)
		return 0;
	for (unsigned i = 0; i < 2 && arch_adds(w[-1], b); i++)
		w--;
	end = pc;
	for (unsigned i = 0; i < 2 && arch_adds(end[0], b); i++)
		end++;
	w--;
	a = w[0] >> 5 & 31;
	if ((w[0] & 0xffc00000) != 0xf9400000 || (w[0] & 31) != b ||
	    end - w > 3 || end - w < 2 ||
	    end[0] != (0xf9000000 | (w[0] & 0x003fffe0) | b))
		return 0;
	*counter = u[ARCH_UC_REGS + a] + (w[0] >> 10 & 0xfff) * 8;
	return (uintptr_t)w;
}

/*
 * Where code began, at its load, that was interrupted before it had stored a
 * thread's bits again (isa/a64/insert/append.c); NULL: it looks like none. It
 * is a load, a shift, perhaps one that adds, and a store.
 */
static inline const unsigned *arch_append_bits(const unsigned *pc)
{
	enum { SHIFT = 0xd3400000 }; /* ubfm, of a whole register */
	const unsigned *w = pc - 1, *end;
	unsigned a, b;

	for (unsigned i = 0; i < 2 && (w[0] & 0xffc00000) != 0xf9400000; i++)
		w--;
	a = w[0] >> 5 & 31;
	b = w[0] & 31;
	end = w + 2;
	end += arch_adds(end[0], b);
	if ((w[0] & 0xffc00000) != 0xf9400000 || a == 31 || a == b ||
	    (w[1] & 0xffc003ff) != (SHIFT | b << 5 | b) || pc > end ||
	    end[0] != (0xf9000000 | (w[0] & 0x003fffe0) | b))
		return NULL;
	return w;
}

/*
 * The same of code that appends values (append_values.c): a load, a look if
 * there is room, and if not a call, and both again; then stores, the last one
 * of what was loaded. Between the looks nothing is to be begun again.
 */
static inline const unsigned *arch_append_values(const unsigned *pc)
{
	enum {
		LOOK = 1, AGAIN = 5, VALUES = 7, LONGEST = VALUES + 8,
		ROOM = 0x00f80000, /* the number of the bit, below 32 */
	};

	for (int i = 1; i <= LONGEST; i++) {
		const unsigned *w = pc - i, *end;
		unsigned b = w[0] & 31, room = w[LOOK] & ROOM;

		if ((w[0] & 0xffc00000) != 0xf9400000 ||
		    w[LOOK] != (0x37000000u | room |
				(VALUES - LOOK) << 5 | b) ||
		    w[AGAIN] != w[0] ||
		    (w[AGAIN + 1] & ~0x7ffe0u) != (0x36000000u | room | b))
			continue;
		end = w + AGAIN + (w[AGAIN + 1] >> 5 & 0x3fff);
		if (pc > end || (i > LOOK + 1 && i <= AGAIN) ||
		    end[0] != (0xf9000000 | (w[0] & 0x003fffff)))
			return NULL;
		return w;
	}
	return NULL;
}

/*
 * Where code began, at its load, that was interrupted before it had stored a
 * word of the thread's page again; 0: it looks like none. *word: what it would
 * write to.
 */
static inline uintptr_t arch_append(const void *context, uintptr_t *word)
{
	const unsigned long *u = context;
	const unsigned *pc = (const unsigned *)u[ARCH_UC_PC];
	const unsigned *w = arch_append_bits(pc);

	if (!w)
		w = arch_append_values(pc);
	if (!w)
		return 0;
	*word = u[ARCH_UC_REGS + (w[0] >> 5 & 31)] + (w[0] >> 10 & 0xfff) * 8;
	return (uintptr_t)w;
}

/* does a call of that routine return there? Requires: it is code, and so is
   what is before it */
static inline _Bool arch_called(uintptr_t back, uintptr_t routine)
{
	unsigned w = *(const unsigned *)(back - 4);

	return (w & 0xfc000000) == 0x94000000 &&
	       back - 4 + (uintptr_t)((intptr_t)(int)(w << 6) >> 4) == routine;
}

/* registers that a routine of trace.S has its argument in, and what the site's
   word gets */
static inline uint64_t arch_trace_about(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_REGS + 16];
}

static inline uint64_t arch_trace_value(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_REGS + 10];
}

/* what the site has laid down (isa/a64/insert/site_call.c): words up to the
   target, and bytes of it all */
enum { ARCH_SITE_TARGET = 3, ARCH_SITE_DEPTH = 32 };

/* registers, when a routine asks (routines.h): those that calls keep are among
   them. What the routine has saved lies behind */
struct arch_asked {
	uint64_t x29, x30, others[10], x19_x28[10], saved[12];
};

enum { ARCH_ASKED_REGS = 12 };

/* where x30 lies that was there before the routine was called
   (isa/a64/insert/append.c) */
static inline uintptr_t arch_asked_link(const struct arch_asked *k)
{
	return (uintptr_t)(k + 1);
}

/* x19 to x30, as they were before that */
static inline void arch_asked_regs(const struct arch_asked *k, uint64_t *to)
{
	__builtin_memcpy(to, k->x19_x28, sizeof k->x19_x28);
	to[10] = k->x29;
	to[11] = *(const uint64_t *)arch_asked_link(k);
}

/* where the routine was called, and the stack pointer there */
static inline uintptr_t arch_asked_from(const struct arch_asked *k,
					uintptr_t at, uintptr_t *sp)
{
	(void)at;
	*sp = arch_asked_link(k) + 16;
	return k->x30;
}

/*
 * What is inserted before an instruction, where the thread was interrupted:
 * does one instruction of it. False: it is something else than a counter.
 */
static inline _Bool arch_step(void *context, _Bool quick)
{
	unsigned long *u = context, *r = u + ARCH_UC_REGS;
	uintptr_t pc = arch_pc(context), next = pc + 4;
	unsigned w = *(const unsigned *)pc, d = w & 31, n = w >> 5 & 31;
	unsigned low = w >> 10 & 0xfff;
	intptr_t page = (intptr_t)((w >> 29 & 3) | (w >> 5 & 0x7ffff) << 2);

	if ((w & 0xfc000000) == 0x14000000) /* b */
		next = pc + (uintptr_t)((intptr_t)(int)(w << 6) >> 4);
	else if (d == 31)
		return 0;
	else if ((w & 0x9f000000) == 0x90000000) /* adrp */
		r[d] = (pc & ~0xffful) +
		       (uintptr_t)(((page ^ 1 << 20) - (1 << 20)) * 4096);
	else if ((w & ~31u) == 0xd53bd040) /* mrs */
		r[d] = arch_thread(quick);
	else if (n == 31)
		return 0;
	else if ((w & 0xffc00000) == 0xf9400000) /* ldr */
		r[d] = *(unsigned long *)(r[n] + low * 8);
	else if ((w & 0xffc00000) == 0xf9000000) /* str */
		*(unsigned long *)(r[n] + low * 8) = r[d];
	else if ((w & 0xff800000) == 0x91000000) /* add */
		r[d] = r[n] + ((unsigned long)low << (w & 1 << 22 ? 12 : 0));
	else if ((w & 0xff800000) == 0xd1000000)
		r[d] = r[n] - ((unsigned long)low << (w & 1 << 22 ? 12 : 0));
	else if ((w & 0xffe0fc00) == 0x8b000000)
		r[d] = r[n] + r[w >> 16 & 31];
	else if ((w & 0xffe0fc00) == 0xcb000000) /* sub */
		r[d] = r[n] - r[w >> 16 & 31];
	else
		return 0;
	arch_set_pc(context, next);
	return 1;
}

/* where a jump leads; 0: it is none */
static inline uintptr_t arch_pad(const void *at)
{
	unsigned w = *(const unsigned *)at;

	return (w & 0xfc000000) == 0x14000000 ?
		       (uintptr_t)at +
			       (uintptr_t)((intptr_t)(int)(w << 6) >> 4) : 0;
}

/*
 * Back to the beginning of what stands for one instruction: nothing is lost,
 * whatever is written there is written again.
 */
static inline void arch_undo(void *context, uintptr_t start)
{
	arch_set_pc(context, start);
}

/*
 * context_resume(), which a hook calls before a jump by x27: asks
 * context_target() where that leads.
 */
#define ARCH_CONTEXT_RESUME                                                    \
	__asm__(".text\n"                                                      \
		".globl context_resume\n"                                      \
		".hidden context_resume\n"                                     \
		".type context_resume, %function\n"                            \
		"context_resume:\n"                                            \
		"stp x29, x30, [sp, #-16]!\n"                                  \
		"mov x0, x27\n"                                                \
		"bl context_target\n"                                          \
		"mov x27, x0\n"                                                \
		"ldp x29, x30, [sp], #16\n"                                    \
		"ret\n"                                                        \
		".size context_resume, . - context_resume\n")

enum {
	ARCH_COUNTS_FOR_THREADS = 0,
	ARCH_SITE_SIZE = 4, /* of what changes */
	ARCH_THREAD_ROOM = 20,
};

/* so far in the room: which place's code */
static inline uint32_t arch_in_room(uintptr_t at)
{
	return (uint32_t)(at / ARCH_THREAD_ROOM);
}

/* b from `at` to `to`; 0: it does not reach */
static inline unsigned arch_jump(uintptr_t at, uintptr_t to)
{
	intptr_t d = (intptr_t)(to - at);

	if (d < -(1 << 27) || d >= 1 << 27)
		return 0;
	return 0x14000000 | ((unsigned)(d >> 2) & 0x3ffffff);
}

/*
 * What adds to counters (isa/a64/insert/counter.c) begins with their address:
 * that becomes a jump to code in `room`, which finds those of the thread, and
 * comes back. False if it is not that.
 */
static inline _Bool arch_change_count(void *site, void *room, _Bool subtract)
{
	unsigned *s = site, *r = room, a = s[0] & 31, b = s[1] & 31;
	intptr_t page = (intptr_t)((s[0] >> 29 & 3) |
				   (s[0] >> 5 & 0x7ffff) << 2);
	unsigned there = arch_jump((uintptr_t)s, (uintptr_t)r);
	unsigned back = arch_jump((uintptr_t)(r + 4), (uintptr_t)(s + 1));

	if ((s[0] & 0x9f000000) != 0x90000000 || !there || !back)
		return 0;
	page = (page ^ 1 << 20) - (1 << 20);
	page += (intptr_t)((uintptr_t)s >> 12) -
		(intptr_t)((uintptr_t)r >> 12);
	if (page < -(1 << 20) || page >= 1 << 20)
		return 0;
	r[0] = 0x90000000 | ((unsigned)page & 3) << 29 |
	       ((unsigned)(page >> 2) & 0x7ffff) << 5 | a;
	r[1] = 0xd53bd040 | b;			     /* mrs b, tpidr_el0 */
	r[2] = 0xf9400400 | b << 5 | b;		     /* ldr b, [b, #8] */
	r[3] = (subtract ? 0xcb000000 : 0x8b000000) | b << 16 | a << 5 | a;
	r[4] = back;
	s[0] = there;
	return 1;
}

/*
 * Code was written: the processor has to read it again. Many say that their
 * caches know by themselves (IDC, DIC): of 76 MB of node that saves 10 ms.
 */
static inline void arch_new_code(const char *from, const char *to)
{
	enum { CTR_IDC = 28, CTR_DIC = 29 };
	unsigned long sizes, data, code;

	__asm__ volatile("mrs %0, ctr_el0" : "=r"(sizes));
	data = 4ul << (sizes >> 16 & 15);
	code = 4ul << (sizes & 15);
	for (uintptr_t p = (uintptr_t)from & -data;
	     !(sizes >> CTR_IDC & 1) && p < (uintptr_t)to; p += data)
		__asm__ volatile("dc cvau, %0" : : "r"(p) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	for (uintptr_t p = (uintptr_t)from & -code;
	     !(sizes >> CTR_DIC & 1) && p < (uintptr_t)to; p += code)
		__asm__ volatile("ic ivau, %0" : : "r"(p) : "memory");
	__asm__ volatile("dsb ish; isb" : : : "memory");
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
