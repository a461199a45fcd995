/*
 * arch_signals: what arch.h says of signals and frames on x86-64.
 */
#ifndef RUNTIME_ARCH_SIGNALS_H
#define RUNTIME_ARCH_SIGNALS_H

/* a handler has to be told where to return: rt_sigreturn() */
#define ARCH_RESTORER ((uintptr_t)signal_restores)
enum { ARCH_ACTION_FLAGS = 0x04000000 }; /* SA_RESTORER */
__attribute__((visibility("hidden"))) void signal_restores(void);

/* unwinders know these nine bytes */
#define ARCH_SIGNAL_RESTORES                                                   \
	".globl signal_restores\n"                                             \
	".hidden signal_restores\n"                                            \
	".type signal_restores, @function\n"                                   \
	"nop\n"                                                                \
	"signal_restores:\n"                                                   \
	"mov $15, %rax\n"                                                      \
	"syscall\n"                                                            \
	".size signal_restores, . - signal_restores\n"

/*
 * signal_arrives(): asks signal_real() which handler it is, with what the
 * kernel gave, where its frame is, and room for a struct signal_context. In the
 * module it then calls the handler, and tells signal_returned() that it came
 * back. The entry of a program has no unwind tables, in which a way over such a
 * call could be found from behind the handler: there it jumps, unless the
 * handler is shown another address: runtimes that need that have tables of
 * their own.
 */
#ifdef RUNTIME_IS_ENTRY
enum { ARCH_SEES_RETURNS = 0 };
#define ARCH_SIGNAL_JUMPS                                                      \
	"cmpq $0, 8(%rsp)\n"                                                   \
	"jne 1f\n"                                                             \
	"cmpq $0, 24(%rsp)\n"                                                  \
	"jne 1f\n"                                                             \
	"add $32, %rsp\n"                                                      \
	"jmp *%r11\n"                                                          \
	"1:\n"
#else
enum { ARCH_SEES_RETURNS = 1 };
#define ARCH_SIGNAL_JUMPS ""
#endif
enum { ARCH_CAN_SEE_RETURNS = ARCH_SEES_RETURNS };
#define ARCH_SIGNAL_GOES                                                       \
	ARCH_SIGNAL_JUMPS                                                      \
	"sub $8, %rsp\n"                                                       \
	".cfi_adjust_cfa_offset 8\n"                                           \
	"call *%r11\n"                                                         \
	"lea 40(%rsp), %rdi\n"                                                 \
	"lea 8(%rsp), %rsi\n"                                                  \
	"call signal_returned\n"                                               \
	"add $40, %rsp\n"                                                      \
	".cfi_adjust_cfa_offset -40\n"                                         \
	"ret\n"

#define ARCH_SIGNAL_ARRIVES                                                    \
	__asm__(".text\n"                                                      \
		".globl signal_arrives\n"                                      \
		".hidden signal_arrives\n"                                     \
		".type signal_arrives, @function\n"                            \
		"signal_arrives:\n"                                            \
		".cfi_startproc\n"                                             \
		"sub $32, %rsp\n"                                              \
		".cfi_adjust_cfa_offset 32\n"                                  \
		"push %rdi\n"                                                  \
		".cfi_adjust_cfa_offset 8\n"                                   \
		"push %rsi\n"                                                  \
		".cfi_adjust_cfa_offset 8\n"                                   \
		"push %rdx\n"                                                  \
		".cfi_adjust_cfa_offset 8\n"                                   \
		"lea 56(%rsp), %rcx\n"                                         \
		"lea 24(%rsp), %r8\n"                                          \
		"call signal_real\n"                                           \
		"pop %rdx\n"                                                   \
		".cfi_adjust_cfa_offset -8\n"                                  \
		"pop %rsi\n"                                                   \
		".cfi_adjust_cfa_offset -8\n"                                  \
		"pop %rdi\n"                                                   \
		".cfi_adjust_cfa_offset -8\n"                                  \
		"mov %rax, %r11\n"                                             \
		"xor %eax, %eax\n"                                             \
		ARCH_SIGNAL_GOES                                               \
		".cfi_endproc\n"                                               \
		".size signal_arrives, . - signal_arrives\n"                   \
		ARCH_SIGNAL_RESTORES)

/* the stack pointer of the handler that signal_arrives() calls, before that */
static inline uintptr_t arch_handler_sp(const void *shown)
{
	return (uintptr_t)shown - 8;
}

/* sums are added to by one instruction */
static inline uintptr_t arch_accumulation(uintptr_t pc)
{
	return pc;
}

/* a routine of calls.S asks which thread it is: it always does */
static inline void arch_ask_thread(void *routine, uint32_t branch)
{
	(void)routine;
	(void)branch;
}

/* code that does nothing, in the place of a routine */
static inline void arch_silence(char *routine)
{
	*routine = (char)0xc3; /* ret */
}

/* can signals that end the process be caught on the way? */
enum { ARCH_NOTES_ENDS = 1 };

/* words of the kernel's ucontext */
enum {
	ARCH_UC_MASK = 37,
	ARCH_UC_R11 = 8,
	ARCH_UC_DX = 17,
	ARCH_UC_AX = 18,
	ARCH_UC_SP = 20,
	ARCH_UC_PC = 21,
	ARCH_UC_WORDS, /* as far as we look for where it was */
};

static inline uintptr_t arch_pc(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_PC];
}

static inline void arch_set_pc(void *context, uintptr_t pc)
{
	((unsigned long *)context)[ARCH_UC_PC] = pc;
}

/* the signal is not blocked when the handler has returned */
static inline void arch_unblock(void *context, unsigned signal)
{
	((unsigned long *)context)[ARCH_UC_MASK] &= ~(1ul << (signal - 1));
}

/*
 * Where the addition began, at its load, that was interrupted before its store;
 * 0 if it looks like none. *counter: what it would write to, if that is the
 * object's own. Other additions are one instruction.
 */
static inline uintptr_t arch_increment(const void *context, uintptr_t *counter)
{
	enum { LOAD = 8, SHORT = 12, LONG = 15 }; /* bytes up to the lea, the
						     store */
	static const uint8_t done[] = {LOAD, SHORT, LONG};
	const uint8_t *pc = (const uint8_t *)arch_pc(context);
	int32_t disp;

	if (!arch_is_access(pc, 0x89) &&
	    ((pc[0] & 0xfa) != 0x48 || pc[1] != 0x8d))
		return 0;
	for (unsigned i = 0; i < sizeof done; i++) {
		const uint8_t *p = pc - done[i];
		struct arch_addition x = arch_addition(p);

		/* what stands before a lea of the program is whole */
		if (!x.size || !x.store ||
		    (done[i] != LOAD && x.store != done[i]))
			continue;
		__builtin_memcpy(&disp, p + 4, sizeof disp);
		*counter = (uintptr_t)p + LOAD + (uintptr_t)(intptr_t)disp;
		return (uintptr_t)p;
	}
	return 0;
}

/*
 * What is inserted before an instruction, where the thread was interrupted:
 * does one step of it. False: it is something else than a counter.
 */
static inline _Bool arch_step(void *context, _Bool quick)
{
	const uint8_t *p = (const uint8_t *)arch_pc(context);
	struct arch_addition x = arch_addition(p);
	unsigned size = x.size;
	int32_t disp;

	if (size) {
		uintptr_t at = p[0] == ARCH_PREFIX_GS ?
				       (uintptr_t)arch_slot(quick) : 0;

		/* from the end of the instruction that has it: the load's, or
		   the only one's */
		__builtin_memcpy(&disp, p + 4, sizeof disp);
		at += (uintptr_t)p + (x.store ? 8 : size) +
		      (uintptr_t)(intptr_t)disp;
		*(uint64_t *)at += (uint64_t)(int64_t)x.constant;
	} else if (p[0] == 0xe9) { /* jmp */
		__builtin_memcpy(&disp, p + 1, sizeof disp);
		size = 5 + (unsigned)disp;
	} else if (p[0] == 0xeb) {
		size = 2 + (unsigned)(int8_t)p[1];
	} else {
		return 0;
	}
	arch_set_pc(context, (uintptr_t)p + (uintptr_t)(int32_t)size);
	return 1;
}

enum { ARCH_ACCESS = 8 }; /* bytes of an access to a word of the page */

/* which word; the first thread's */
static inline uintptr_t arch_accessed(const uint8_t *p)
{
	int32_t disp;

	__builtin_memcpy(&disp, p + 4, sizeof disp);
	return (uintptr_t)p + ARCH_ACCESS + (uintptr_t)(intptr_t)disp;
}

/* does code that appends values (isa/x64/insert/append_values.c) begin at p,
   with `pc` in it before its last instruction, and so that it has loaded? */
static inline _Bool arch_appends_values(const uint8_t *p, uintptr_t pc)
{
	enum { FULL = ARCH_ACCESS + 5, VALUES = FULL + 2, STORES = 64 };
	const uint8_t *at, *end;

	if (!arch_is_access(p, 0x8b) || (p[ARCH_ACCESS] & 0xfe) != 0x48 ||
	    p[ARCH_ACCESS + 1] != 0x0f || p[ARCH_ACCESS + 2] != 0xba ||
	    p[FULL] != 0x72)
		return 0;
	if (pc <= (uintptr_t)p + FULL)
		return 1;
	at = p + VALUES + p[FULL + 1];
	if (pc < (uintptr_t)at)
		return 0;
	for (end = at + STORES; at < end; at++)
		if (arch_is_access(at, 0x89) &&
		    arch_accessed(at) == arch_accessed(p))
			return pc <= (uintptr_t)at;
	return 0;
}

/*
 * Where code began, at its load, that was interrupted before it had stored a
 * word of the thread's page again (isa/x64/insert/append.c, append_values.c);
 * 0: it looks like none. *word: the first thread's.
 */
static inline uintptr_t arch_append(const void *context, uintptr_t *word)
{
	enum { LOAD = ARCH_ACCESS, VALUES_LONGEST = 120 };
	uintptr_t pc = arch_pc(context);
	/* behind the load, a shift, and what stands before the store */
	static const uint8_t done[] = {LOAD, LOAD + 4, LOAD + 5, LOAD + 8};
	const uint8_t *p;

	for (unsigned i = 0; i < sizeof done; i++) {
		p = (const uint8_t *)pc - done[i];
		if (!arch_is_access(p, 0x8b))
			continue;
		*word = arch_accessed(p);
		return (uintptr_t)p;
	}
	for (unsigned i = LOAD; i < VALUES_LONGEST; i++) {
		p = (const uint8_t *)pc - i;
		if (!arch_appends_values(p, pc))
			continue;
		*word = arch_accessed(p);
		return (uintptr_t)p;
	}
	return 0;
}

/* does a call of that routine return there? Requires: it is code, and so is
   what is before it */
static inline _Bool arch_called(uintptr_t back, uintptr_t routine)
{
	const uint8_t *p = (const uint8_t *)back - 5;
	int32_t disp = (int32_t)(routine - back), is;

	if (routine - back != (uintptr_t)(intptr_t)disp || p[0] != 0xe8)
		return 0;
	__builtin_memcpy(&is, p + 1, sizeof is);
	return is == disp;
}

/* registers that a routine of trace.S has its argument in, and what the site's
   word gets */
static inline uint64_t arch_trace_about(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_R11];
}

static inline uint64_t arch_trace_value(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_DX];
}

/* what the site has laid down (isa/x64/insert/site_call.c), with what its call
   has: words up to the target, and bytes of it all */
enum { ARCH_SITE_TARGET = 2, ARCH_SITE_DEPTH = 24 + 128 };

/* registers that calls keep, when a routine asks (routines.h) */
struct arch_asked {
	uint64_t rbx, rbp, r12, r13, r14, r15;
};

enum { ARCH_ASKED_REGS = sizeof(struct arch_asked) / sizeof(uint64_t) };

static inline void arch_asked_regs(const struct arch_asked *k, uint64_t *to)
{
	__builtin_memcpy(to, k, sizeof *k);
}

/*
 * Where the routine was called whose return address lies at `at`, and the stack
 * pointer there: inserted code steps over what may lie below it
 * (isa/x64/insert/append.c), and back.
 */
static inline uintptr_t arch_asked_from(const struct arch_asked *k,
					uintptr_t at, uintptr_t *sp)
{
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	uintptr_t from = *(const uintptr_t *)at;
	uint64_t steps = 1;

	(void)k;
	for (unsigned i = 0; i < sizeof up; i++)
		steps &= ((const uint8_t *)from)[i] == up[i];
	*sp = at + sizeof from + steps * 128;
	return from;
}

/* where a jump leads, perhaps by way of another; 0: it is none */
static inline uintptr_t arch_pad(const uint8_t *p)
{
	int32_t disp;

	if (p[0] == 0xeb)
		p += 2 + (int8_t)p[1];
	if (p[0] != 0xe9)
		return 0;
	__builtin_memcpy(&disp, p + 1, sizeof disp);
	return (uintptr_t)p + 5 + (uintptr_t)(intptr_t)disp;
}

/*
 * Back to the beginning, at `start`, of what stands for one instruction. Only
 * calls that leave their old return address have changed anything by then:
 * push %rax; lea; xchg %rax, (%rsp); jmp.
 */
static inline void arch_undo(void *context, uintptr_t start)
{
	enum { AFTER_LEA = 8 };
	unsigned long *uc = context;
	const uint8_t *p = (const uint8_t *)start;
	uintptr_t done = arch_pc(context) - start;

	if (done && p[0] == 0x50 && p[1] == 0x48 && p[2] == 0x8d &&
	    p[3] == 0x05 && p[8] == 0x48 && p[9] == 0x87) {
		if (done == AFTER_LEA)
			uc[ARCH_UC_AX] = *(unsigned long *)uc[ARCH_UC_SP];
		uc[ARCH_UC_SP] += sizeof(long);
	}
	arch_set_pc(context, start);
}

/*
 * context_resume(), which a hook calls before a return: asks context_target()
 * where that leads, by the word on top of the stack where the hook was called.
 */
#define ARCH_CONTEXT_RESUME                                                    \
	_Static_assert(sizeof(struct arch_hook) + ARCH_RED_ZONE == 224,        \
		       "where the hook was called");                           \
	__asm__(".text\n"                                                      \
		".globl context_resume\n"                                      \
		".hidden context_resume\n"                                     \
		".type context_resume, @function\n"                            \
		"context_resume:\n"                                            \
		"push %rbx\n"                                                  \
		"lea 224(%rdi), %rbx\n"                                        \
		"mov (%rbx), %rdi\n"                                           \
		"call context_target\n"                                        \
		"mov %rax, (%rbx)\n"                                           \
		"pop %rbx\n"                                                   \
		"ret\n"                                                        \
		".size context_resume, . - context_resume\n")

/* --- frames: there is no chain of records to rely on on this machine */

enum { ARCH_FRAME_RECORDS = 0, ARCH_RED_ZONE = 128 };

/* the stack pointer where the hook was called */
static inline uintptr_t arch_hook_frame(const struct arch_hook *g)
{
	return (uintptr_t)(g + 1) + ARCH_RED_ZONE;
}

static inline uintptr_t arch_hook_stack(const struct arch_hook *g)
{
	return arch_hook_frame(g);
}

/* where the hook comes back to */
static inline uintptr_t arch_hook_back(const struct arch_hook *g)
{
	return g->back;
}

/* the stack pointer of the interrupted code */
static inline uintptr_t arch_frame(const void *context)
{
	return ((const unsigned long *)context)[ARCH_UC_SP];
}

static inline uintptr_t arch_stack(const void *context)
{
	return arch_frame(context);
}

static inline uintptr_t arch_link(const void *context)
{
	(void)context;
	return 0;
}

/* where a function returns to that has just been called */
static inline uintptr_t arch_return(const void *context)
{
	return *(const uintptr_t *)((const unsigned long *)
					    context)[ARCH_UC_SP];
}

static inline uintptr_t arch_plain(uintptr_t at)
{
	return at;
}

enum { ARCH_JUMP_FRAME = 6 }; /* the word of a jmp_buf with rsp */

/* that word as it is: glibc turns and masks it, musl does not */
static inline uintptr_t arch_jump_frame(uintptr_t word, uintptr_t sp)
{
	enum { NEAR_BITS = 40, TURN = 17 };
	uintptr_t guard;

	if (word > sp && (word - sp) >> NEAR_BITS == 0)
		return word;
	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	return (word >> TURN | word << (64 - TURN)) ^ guard;
}

#endif
