/*
 * exclusive: from a load-exclusive to its store, the one stretch of code that
 * cannot be run step by step: every stop ends the reservation, the store never
 * succeeds and the loop around it never ends. So it runs at full speed, up to
 * breakpoints at all places where one can come out, and the one where it did
 * tells what ran, unless there are several ways to it (forks): these are tried
 * first, step by step, which changes nothing but registers.
 *
 * On x86-64 there is none.
 */
#ifndef TEST_EXCLUSIVE_H
#define TEST_EXCLUSIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "breakpoint.h"

enum { EXCLUSIVE_MAX = 32, WAYS_MAX = 8 };

/* a way out: the last instruction in there, and what comes next */
struct way_out {
	uint64_t last, next;
	uint8_t was[TRAP_BYTES];
};

struct exclusive {
	uint64_t start, store;
	bool forks;
	struct way_out out[WAYS_MAX];
	int n;
};

#if defined(__aarch64__)

/* of exclusives, not of pairs that are compared and swapped */
static inline bool is_exclusive(uint32_t w, bool loads)
{
	return (w & 0x3fc00000) == (loads ? 0x08400000u : 0x08000000u) &&
	       ((w >> 31) || !(w >> 21 & 1));
}

/* the distance that a conditional branch jumps; 0: it is none */
static inline int64_t branch_distance(uint32_t w)
{
	if ((w & 0xff000010) == 0x54000000 || (w & 0x7e000000) == 0x34000000)
		return (int64_t)((uint64_t)(w >> 5) << 45) >> 43;
	if ((w & 0x7e000000) == 0x36000000)
		return (int64_t)((uint64_t)(w >> 5) << 50) >> 48;
	return 0;
}

/* does what follows the instruction depend on more than a condition? */
static inline bool leaves(uint32_t w)
{
	return (w & 0x1c000000) == 0x14000000 && !branch_distance(w);
}

static inline bool way_add(struct exclusive *x, uint64_t last, uint64_t next)
{
	for (int i = 0; i < x->n; i++)
		if (x->out[i].next == next) {
			x->forks = true;
			return true;
		}
	if (x->n == WAYS_MAX)
		return false;
	x->out[x->n++] = (struct way_out){.last = last, .next = next};
	return true;
}

/* ways that do not lead out */
static inline void drop_inner(struct exclusive *x)
{
	for (int i = 0; i < x->n;) {
		if (x->out[i].next - x->start > x->store - x->start) {
			i++;
			continue;
		}
		x->out[i] = x->out[--x->n];
		x->forks = true;
	}
}

/* is what begins here, with a load, such a stretch, all of whose ways out are known? */
static inline bool exclusive_find(struct exclusive *x, pid_t tid, uint64_t pc)
{
	uint32_t w[EXCLUSIVE_MAX] = {0};
	struct iovec to = {w, sizeof w};
	struct iovec from = {(void *)(uintptr_t)pc, sizeof w};
	int i;

	*x = (struct exclusive){.start = pc};
	process_vm_readv(tid, &to, 1, &from, 1, 0);
	for (i = 1; i < EXCLUSIVE_MAX && !is_exclusive(w[i], false); i++) {
		int64_t far = branch_distance(w[i]);
		uint64_t at = pc + 4 * (uint64_t)i;

		if (leaves(w[i]) || is_exclusive(w[i], true) ||
		    (far && !way_add(x, at, at + (uint64_t)far)))
			return false;
	}
	x->store = pc + 4 * (uint64_t)i;
	drop_inner(x);
	return i < EXCLUSIVE_MAX && way_add(x, x->store, x->store + 4);
}

#else

static inline bool exclusive_find(struct exclusive *x, pid_t tid, uint64_t pc)
{
	(void)x, (void)tid, (void)pc;
	return false;
}

#endif

static inline void exclusive_guard(struct exclusive *x, int mem)
{
	for (int i = 0; i < x->n; i++) {
		struct way_out *o = &x->out[i];

		if (pread(mem, o->was, TRAP_BYTES, (off_t)o->next) < 0 ||
		    pwrite(mem, trap_code, TRAP_BYTES, (off_t)o->next) < 0)
			_exit(125);
	}
}

static inline void exclusive_unguard(const struct exclusive *x, int mem)
{
	for (int i = 0; i < x->n; i++)
		if (pwrite(mem, x->out[i].was, TRAP_BYTES,
			   (off_t)x->out[i].next) < 0)
			_exit(125);
}

/* what ran last if the thread is here now; 0: nothing did */
static inline uint64_t exclusive_last(const struct exclusive *x, uint64_t pc)
{
	for (int i = 0; i < x->n; i++)
		if (x->out[i].next == pc)
			return x->out[i].last;
	return pc == x->start ? 0 : pc - 4;
}

/* the instructions of one way through a stretch, and what comes after */
struct way {
	uint64_t pc[2 * EXCLUSIVE_MAX];
	int n;
};

/* the only way there is to where the thread is now */
static inline void way_straight(struct way *w, const struct exclusive *x, uint64_t pc)
{
	uint64_t last = exclusive_last(x, pc);

	for (uint64_t at = x->start; last && at <= last; at += 4)
		w->pc[w->n++] = at;
}

/*
 * Tries a stretch step by step; what it does to registers is to be undone if
 * that leads to the store. The status with which the thread stopped.
 */
static inline int way_try(struct way *w, const struct exclusive *x, pid_t tid)
{
	uint64_t pc = x->start;
	int status;

	do {
		ptrace(PTRACE_SINGLESTEP, tid, 0, 0);
		waitpid(tid, &status, __WALL);
		if (!WIFSTOPPED(status) || status >> 8 != SIGTRAP)
			return status;
		w->pc[w->n++] = pc;
		pc = get_pc(tid);
	} while (pc - x->start < x->store - x->start &&
		 w->n < 2 * EXCLUSIVE_MAX - 1);
	return status;
}

/* runs a stretch at full speed */
static inline int run_guarded(struct exclusive *x, pid_t tid)
{
	int status, mem = memory_of(tid);

	exclusive_guard(x, mem);
	ptrace(PTRACE_CONT, tid, 0, 0);
	waitpid(tid, &status, __WALL);
	exclusive_unguard(x, mem);
	close(mem);
	return status;
}

#endif
