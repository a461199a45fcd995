/*
 * a64 hook: calls a procedure before a system call is made, or behind it.
 *
 * Reached by a call from before an svc, with all registers and flags as the
 * kernel would get them, or from behind it, as it left them: but for x0 they
 * are the same. A call that is not one of those below goes on at once; a hook
 * of a kind without a list is no call's, and always asks. For the others a
 * procedure is asked whose address lies at `offset` in a structure to which
 * the word at `word` points; if there is none, the call goes on as well.
 * The procedure gets the address of
 *
 *	x0 .. x15, x29, x30, flags, x18		eight bytes each
 *
 * which it may change, and that of the structure. Vector registers are its
 * own business.
 *
 * Another kind stands before jumps and calls through a register, any register:
 * all general ones are shown, and none may be changed. What is behind the call
 * of it says more (a64_tell()).
 */
#include <string.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

/* the system calls of each kind: a part of this list */
static const uint16_t asked[] = {
	48,  /* faccessat */
	56,  /* openat */
	78,  /* readlinkat */
	79,  /* newfstatat */
	291, /* statx */
	437, /* openat2 */
	439, /* faccessat2 */
	221, /* execve */
	281, /* execveat */
	220, /* clone */
	435, /* clone3 */
	134, /* rt_sigaction */
	41,  /* pivot_root */
	51,  /* chroot */
	97,  /* unshare */
	144, /* setgid */
	145, /* setreuid */
	146, /* setuid */
	147, /* setresuid */
	149, /* setresgid */
	268, /* setns */
	93,  /* exit */
	94,  /* exit_group */
	167, /* prctl */
	277, /* seccomp */
	135, /* rt_sigprocmask */
};

enum { NASKED = sizeof asked / sizeof *asked };

static const struct {
	uint8_t first, n; /* in asked[] */
} part[HOOK_KINDS] = {
	[HOOK_EVERY] = {0, 0},
	[HOOK_NAMES] = {0, 9},
	[HOOK_LIFE] = {0, NASKED},
	[HOOK_BEHIND] = {7, 5},
	[HOOK_JUMP] = {0, 0},
	[HOOK_RESUME] = {0, 0},
};

enum {
	FRAME = 160,
	/* x16 and x17, and what Go leaves for a new thread below its stack
	   pointer (runtime.clone) */
	ASIDE = 16 + 128,
	SAVED = 16, /* x0 .. x15 */
	/* finding the procedure; saving; calling it; restoring */
	SLOW_WORDS = 5 + SAVED / 2 + 3 + 4 + SAVED / 2 + 3 + 2,
	HOOK_WORDS = 3 + 2 * NASKED + SLOW_WORDS, /* at most: the tests */

	OP_STP = 0xa9000000,	  /* stp xa, xb, [sp, #offset] */
	OP_STP_PRE = 0xa9800000,  /* stp xa, xb, [sp, #offset]! */
	OP_LDP = 0xa9400000,	  /* ldp xa, xb, [sp, #offset] */
	OP_LDP_POST = 0xa8c00000, /* ldp xa, xb, [sp], #offset */
	OP_SUB = 0xd1000000,	  /* sub xd, xn, #imm12 */
	OP_CBZ = 0xb4000000,
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_MRS_NZCV = 0xd53b4200,
	OP_MSR_NZCV = 0xd51b4200,
	OP_MOV_X0_SP = 0x910003e0,
	OP_MOV_X1_X17 = 0xaa1103e1,
	OP_ADD_FP = 0x910003fd, /* add x29, sp, #imm12 */
	OP_BLR = 0xd63f0000,
	OP_RET = 0xd65f03c0,
};

/* of the hook before jumps: x0 .. x30 and the flags, in two halves */
enum {
	HALF = 128,
	TELL_WORDS = A64_TELL_HOOK_SIZE / 4,
	MOVZ_XZR = 0xd280001f, /* movz xzr, #imm16: nothing is done */
	MOVK_XZR = 0xf2a0001f, /* movk xzr, #imm16, lsl #16 */
};

/* words, one behind the other */
struct hook {
	uint32_t w[HOOK_WORDS];
	unsigned n;
};

static void put(struct hook *g, uint32_t w)
{
	g->w[g->n++] = w;
}

static void put_pair(struct hook *g, uint32_t op, unsigned a, unsigned b,
		     int offset)
{
	put(g, op | ((uint32_t)(offset / 8) & 0x7f) << 15 | b << 10 |
		       A64_SP << 5 | a);
}

/* cbz reg, the word number `to` */
static void put_cbz(struct hook *g, unsigned reg, unsigned to)
{
	put(g, OP_CBZ | ((to - g->n) & 0x7ffff) << 5 | reg);
}

/* ldr to, [from, #offset] */
static void put_load(struct hook *g, unsigned to, unsigned from,
		     unsigned offset)
{
	put(g, OP_LDR | offset / 8 << 10 | from << 5 | to);
}

/*
 * x17: the structure to which the word points, x16: the procedure at `offset`
 * in it; if there is none, to the word number `leave`. False: out of reach.
 */
static bool put_find(struct hook *g, uint64_t at, uint64_t word,
		     unsigned offset, unsigned leave)
{
	if (!a64_put_adrp((uint8_t *)&g->w[g->n], 16, at + 4 * g->n, word))
		return false;
	g->n++;
	put_load(g, 17, 16, word & 0xfff);
	put_cbz(g, 17, leave);
	put_load(g, 16, 17, offset);
	put_cbz(g, 16, leave);
	return true;
}

/* calls the procedure; a frame record for stack walks is fp bytes from here */
static void put_ask(struct hook *g, unsigned fp)
{
	put(g, OP_ADD_FP | fp << 10);
	put(g, OP_MOV_X0_SP);
	put(g, OP_MOV_X1_X17);
	put(g, OP_BLR | 16 << 5);
}

static void put_save(struct hook *g)
{
	put_pair(g, OP_STP_PRE, 0, 1, -FRAME);
	for (unsigned r = 2; r < SAVED; r += 2)
		put_pair(g, OP_STP, r, r + 1, (int)r * 8);
	put_pair(g, OP_STP, 29, 30, 8 * SAVED);
	put(g, OP_MRS_NZCV | 0);
	put_pair(g, OP_STP, 0, 18, 8 * SAVED + 16);
}

static void put_restore(struct hook *g)
{
	put_pair(g, OP_LDP, 17, 18, 8 * SAVED + 16);
	put(g, OP_MSR_NZCV | 17);
	put_pair(g, OP_LDP, 29, 30, 8 * SAVED);
	for (unsigned r = SAVED - 2; r; r -= 2)
		put_pair(g, OP_LDP, r, r + 1, (int)r * 8);
	put_pair(g, OP_LDP_POST, 0, 1, FRAME);
}

static void put_leave(struct hook *g)
{
	put_pair(g, OP_LDP_POST, 16, 17, ASIDE);
	put(g, OP_RET);
}

/* words before it asks */
static unsigned fast_words(enum hook_kind k)
{
	return 1 + (part[k].n ? 2 * part[k].n + 2u : 0);
}

uint16_t a64_hook_size(enum hook_kind k)
{
	return (uint16_t)(4 * (fast_words(k) + SLOW_WORDS));
}

bool a64_hook_asks(enum hook_kind k, uint64_t number)
{
	for (unsigned i = 0; i < part[k].n; i++)
		if (asked[part[k].first + i] == number)
			return true;
	return false;
}

bool a64_hook(enum hook_kind k, uint64_t at, uint64_t word, unsigned offset,
	      uint8_t *out)
{
	const uint16_t *nr = asked + part[k].first;
	unsigned slow = fast_words(k), leave = slow + SLOW_WORDS - 2;
	struct hook g = {.n = 0};

	put_pair(&g, OP_STP_PRE, 16, 17, -ASIDE);
	for (unsigned i = 0; i < part[k].n; i++) {
		put(&g, OP_SUB | (uint32_t)nr[i] << 10 | 8 << 5 | 16);
		put_cbz(&g, 16, slow);
	}
	if (part[k].n)
		put_leave(&g);
	if (!put_find(&g, at, word, offset, leave))
		return false;
	put_save(&g);
	put_ask(&g, 8 * SAVED);
	put_restore(&g);
	put_leave(&g);
	memcpy(out, g.w, a64_hook_size(k));
	return true;
}

/* x16 and x17 lie where the second half begins already */
static void put_save_all(struct hook *g)
{
	put_pair(g, OP_STP_PRE, 0, 1, -HALF);
	for (unsigned r = 2; r < 30; r += 2)
		if (r != 16)
			put_pair(g, OP_STP, r, r + 1, (int)r * 8);
	put(g, OP_MRS_NZCV | 0);
	put_pair(g, OP_STP, 30, 0, 30 * 8);
}

/* what a procedure may lose, and x29 */
static void put_restore_all(struct hook *g)
{
	put_pair(g, OP_LDP, 30, 17, 30 * 8);
	put(g, OP_MSR_NZCV | 17);
	put_pair(g, OP_LDP, 28, 29, 28 * 8);
	put_pair(g, OP_LDP, 18, 19, 18 * 8);
	for (unsigned r = 14; r; r -= 2)
		put_pair(g, OP_LDP, r, r + 1, (int)r * 8);
	put_pair(g, OP_LDP_POST, 0, 1, HALF);
}

bool a64_tell_hook(uint64_t at, uint64_t word, unsigned offset, uint64_t about,
		   uint8_t *out)
{
	struct hook g = {.n = 0};

	put_pair(&g, OP_STP_PRE, 16, 17, -HALF);
	if (!put_find(&g, at, word, offset, TELL_WORDS - 2))
		return false;
	put_save_all(&g);
	if (!a64_put_near((uint8_t *)&g.w[g.n], 2, at + 4 * g.n, about))
		return false;
	g.n++;
	put_ask(&g, 29 * 8);
	put_restore_all(&g);
	put_pair(&g, OP_LDP_POST, 16, 17, HALF);
	put(&g, OP_RET);
	memcpy(out, g.w, sizeof *g.w * TELL_WORDS);
	return g.n == TELL_WORDS;
}

/* mov reg, x30; bl to; mov x30, reg */
bool a64_call(uint64_t at, uint64_t to, uint8_t reg, uint8_t *out)
{
	int64_t d = (int64_t)(to - (at + 4));
	uint32_t w[3] = {
		0xaa0003e0 | (uint32_t)A64_LR << 16 | reg,
		0x94000000 | ((uint32_t)(d >> 2) & 0x3ffffff),
		0xaa0003e0 | (uint32_t)reg << 16 | A64_LR,
	};

	if (d < -(1 << 27) || d >= 1 << 27)
		return false;
	memcpy(out, w, sizeof w);
	return true;
}

/* br, blr and their kin have it all in the same place */
static unsigned jump_reg(const uint8_t *code)
{
	return a64_rn(a64_word(code));
}

/* a64_call(), and two instructions that do nothing but say `what` */
bool a64_tell(const struct tell *t, uint64_t at, uint64_t to, uint8_t reg,
	      uint8_t *out)
{
	uint32_t what = t->number << TELL_REG |
			(t->table ? TELL_TABLE : jump_reg(t->code));
	uint32_t w[2] = {MOVZ_XZR | (what & 0xffff) << 5,
			 MOVK_XZR | what >> 16 << 5};

	memcpy(out + 12, w, sizeof w);
	return a64_call(at, to, reg, out);
}

bool a64_jump_reads(const uint8_t *code, const struct insn *in, regset *reads)
{
	(void)in;
	*reads = (regset)1 << jump_reg(code);
	return true;
}
