/*
 * x64 hook: calls a procedure before a system call is made, or behind it.
 *
 * Reached by a call from before a syscall, with all registers and flags as the
 * kernel would get them, or from behind it, as it left them. Before it, a call
 * that is not one of those below goes on at once. Behind it that is not known:
 * the result is where the number was; so that hook always asks, as does the
 * one of a kind without a list. A procedure is asked whose address lies at
 * `offset` in a structure to which the word at `word` points; if there is
 * none, the call goes on. The procedure gets the address of
 *
 *	rdi rsi rdx r10 r8 r9, rax, r11, rcx, flags, rbp, return address
 *
 * eight bytes each, which it may change but for the last two, and that of the
 * structure. Vector registers are its own business.
 *
 * The code that calls a hook has stepped over the 128 bytes below the stack
 * pointer, which belong to the procedure there (psABI, 3.2.2).
 *
 * Another hook stands before jumps and calls through a register or memory. It
 * shows two words, where it returns to and what was pushed before the call of
 * it (tell.c), and changes nothing.
 */
#include <string.h>

#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

/* the system calls of each kind: a part of this list */
static const uint16_t asked[] = {
	2,   /* open */
	4,   /* stat */
	6,   /* lstat */
	21,  /* access */
	89,  /* readlink */
	257, /* openat */
	262, /* newfstatat */
	267, /* readlinkat */
	269, /* faccessat */
	332, /* statx */
	437, /* openat2 */
	439, /* faccessat2 */
	59,  /* execve */
	322, /* execveat */
	56,  /* clone */
	57,  /* fork */
	58,  /* vfork */
	435, /* clone3 */
	13,  /* rt_sigaction */
	105, /* setuid */
	106, /* setgid */
	113, /* setreuid */
	117, /* setresuid */
	119, /* setresgid */
	155, /* pivot_root */
	161, /* chroot */
	272, /* unshare */
	308, /* setns */
	60,  /* exit */
	231, /* exit_group */
	157, /* prctl */
	158, /* arch_prctl */
	317, /* seccomp */
	14,  /* rt_sigprocmask */
};

enum {
	NASKED = sizeof asked / sizeof *asked,
	NUMBERS = 512, /* all of them are below */
};

static const struct {
	uint8_t first, n; /* in asked[] */
} part[HOOK_KINDS] = {
	[HOOK_EVERY] = {0, 0},
	[HOOK_NAMES] = {0, 14},
	[HOOK_LIFE] = {0, NASKED},
	[HOOK_BEHIND] = {12, 7},
	[HOOK_JUMP] = {0, 0},
	[HOOK_RESUME] = {0, 0},
};

/* the pieces, as the assembler makes them; what is 0 here is filled in */
static const uint8_t enter[] = {
	0x55,		  /* push %rbp: a frame for stack walks */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x9c,		  /* pushfq */
};

static const uint8_t test[] = {
	0x48, 0x3d, 0xff, 0x01, 0, 0,	   /* cmp $511, %rax */
	0x0f, 0x87, 0, 0, 0, 0,		   /* ja leave */
	0x48, 0x0f, 0xa3, 0x05, 0, 0, 0, 0, /* bt %rax, numbers(%rip) */
	0x0f, 0x83, 0, 0, 0, 0,		   /* jnc leave */
};

static const uint8_t find[] = {
	0x51,				   /* push %rcx */
	0x48, 0x8b, 0x0d, 0, 0, 0, 0,	   /* mov word(%rip), %rcx */
	0x48, 0x85, 0xc9,		   /* test %rcx, %rcx */
	0x0f, 0x84, 0, 0, 0, 0,		   /* jz leave_rcx */
	0x48, 0x83, 0xb9, 0, 0, 0, 0, 0,   /* cmpq $0, offset(%rcx) */
	0x0f, 0x84, 0, 0, 0, 0,		   /* jz leave_rcx */
};

static const uint8_t save[] = {
	0x41, 0x53,		     /* push %r11 */
	0x50,			     /* push %rax */
	0x41, 0x51, 0x41, 0x50,	     /* push %r9, %r8 */
	0x41, 0x52,		     /* push %r10 */
	0x52, 0x56, 0x57,	     /* push %rdx, %rsi, %rdi */
};

static const uint8_t show[] = {
	0x48, 0x89, 0xe7, /* mov %rsp, %rdi */
};

static const uint8_t show_jump[] = {
	0x48, 0x8d, 0x7d, 0x08,		/* lea 8(%rbp), %rdi */
	0x48, 0x8d, 0x15, 0, 0, 0, 0,	/* lea about(%rip), %rdx */
};

static const uint8_t ask[] = {
	0x48, 0x89, 0xce,	     /* mov %rcx, %rsi */
	0x48, 0x83, 0xe4, 0xf0,	     /* and $-16, %rsp */
	0xfc,			     /* cld */
	0xff, 0x91, 0, 0, 0, 0,	     /* call *offset(%rcx) */
	0x48, 0x8d, 0x65, 0xb0,	     /* lea -80(%rbp), %rsp */
	0x5f, 0x5e, 0x5a,	     /* pop %rdi, %rsi, %rdx */
	0x41, 0x5a,		     /* pop %r10 */
	0x41, 0x58, 0x41, 0x59,	     /* pop %r8, %r9 */
	0x58,			     /* pop %rax */
	0x41, 0x5b,		     /* pop %r11 */
};

static const uint8_t leave[] = {
	0x59, /* leave_rcx: pop %rcx */
	0x9d, /* leave: popfq */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};

_Static_assert(sizeof enter + sizeof find + sizeof save + sizeof show_jump +
		       sizeof ask + sizeof leave == X64_TELL_HOOK_SIZE,
	       "the size of the hook before jumps");

/* where in the pieces, in bytes, and how far before the end */
enum {
	TEST_JA = 8,
	TEST_BITS = 16,
	TEST_JNC = 22,
	FIND_WORD = 4,
	FIND_JZ = 13,
	FIND_OFFSET = 20,
	FIND_JZ_TOO = 27,
	SHOW_ABOUT = 7,
	ASK_OFFSET = 10,
	LEAVE_RCX = 4,
	LEAVE = 3,
};

/* code, one piece behind the other */
struct hook {
	uint8_t *out;
	unsigned n;
};

/* where the piece begins */
static unsigned put(struct hook *g, const uint8_t *piece, unsigned n)
{
	memcpy(g->out + g->n, piece, n);
	g->n += n;
	return g->n - n;
}

static void fill(const struct hook *g, unsigned at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(g->out + at, &v, sizeof v);
}

/* the distance to `to`, in the last four bytes of an instruction */
static void fill_distance(const struct hook *g, unsigned at, unsigned to)
{
	fill(g, at, (int64_t)to - (at + 4));
}

/* before it? Then its number decides */
static bool is_tested(enum hook_kind k)
{
	return k == HOOK_NAMES || k == HOOK_LIFE;
}

static unsigned code_size(enum hook_kind k)
{
	return sizeof enter + (is_tested(k) ? sizeof test : 0) + sizeof find +
	       sizeof save + sizeof show + sizeof ask + sizeof leave;
}

uint16_t x64_hook_size(enum hook_kind k)
{
	return (uint16_t)(code_size(k) + (is_tested(k) ? NUMBERS / 8 : 0));
}

bool x64_hook_asks(enum hook_kind k, uint64_t number)
{
	for (unsigned i = 0; i < part[k].n; i++)
		if (asked[part[k].first + i] == number)
			return true;
	return false;
}

/* syscall */
bool x64_own_call(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0x05;
}

/* the numbers are behind the code */
static void put_test(struct hook *g, enum hook_kind k)
{
	unsigned end = code_size(k), at = put(g, test, sizeof test);

	fill_distance(g, at + TEST_JA, end - LEAVE);
	fill_distance(g, at + TEST_BITS, end);
	fill_distance(g, at + TEST_JNC, end - LEAVE);
	memset(g->out + end, 0, NUMBERS / 8);
	for (unsigned i = 0; i < part[k].n; i++) {
		unsigned nr = asked[part[k].first + i];

		g->out[end + nr / 8] |= (uint8_t)(1 << nr % 8);
	}
}

/* finds the procedure to call; false: the word is too far */
static bool put_find(struct hook *g, unsigned end, uint64_t start,
		     uint64_t word, unsigned offset)
{
	unsigned out = end - LEAVE_RCX, at = put(g, find, sizeof find);
	int64_t d = (int64_t)(word - (start + at + FIND_WORD + 4));

	fill(g, at + FIND_WORD, d);
	fill_distance(g, at + FIND_JZ, out);
	fill(g, at + FIND_OFFSET, offset);
	fill_distance(g, at + FIND_JZ_TOO, out);
	return d == (int32_t)d;
}

bool x64_hook(enum hook_kind k, uint64_t at, uint64_t word, unsigned offset,
	      uint8_t *out)
{
	struct hook g = {.out = out};

	put(&g, enter, sizeof enter);
	if (is_tested(k))
		put_test(&g, k);
	if (!put_find(&g, code_size(k), at, word, offset))
		return false;
	put(&g, save, sizeof save);
	put(&g, show, sizeof show);
	fill(&g, put(&g, ask, sizeof ask) + ASK_OFFSET, offset);
	put(&g, leave, sizeof leave);
	return true;
}

bool x64_tell_hook(uint64_t start, uint64_t word, unsigned offset,
		   uint64_t about, uint8_t *out)
{
	struct hook g = {.out = out};
	unsigned at;
	int64_t d;

	put(&g, enter, sizeof enter);
	if (!put_find(&g, X64_TELL_HOOK_SIZE, start, word, offset))
		return false;
	put(&g, save, sizeof save);
	at = put(&g, show_jump, sizeof show_jump) + SHOW_ABOUT;
	d = (int64_t)(about - (start + at + 4));
	fill(&g, at, d);
	fill(&g, put(&g, ask, sizeof ask) + ASK_OFFSET, offset);
	put(&g, leave, sizeof leave);
	return d == (int32_t)d;
}

/* lea -128(%rsp), %rsp; call to; lea 128(%rsp), %rsp */
bool x64_call(uint64_t at, uint64_t to, uint8_t reg, uint8_t *out)
{
	static const uint8_t code[X64_CALL_SIZE] = {
		0x48, 0x8d, 0x64, 0x24, 0x80,
		0xe8, 0, 0, 0, 0,
		0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,
	};
	int64_t d = (int64_t)(to - (at + 10));
	int32_t disp = (int32_t)d;

	(void)reg; /* it needs none */
	memcpy(out, code, sizeof code);
	memcpy(out + 6, &disp, sizeof disp);
	return disp == d;
}
