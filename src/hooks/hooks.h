/*
 * hooks: what makes a rewritten program see its own world.
 *
 * Some of what a program can ask the kernel shows that another file runs than
 * the one that was named: /proc/self/exe. Before every system call of
 * rewritten code that may be one of these stands a call of a hook, which asks
 * the audit module (runtime/own_file.c) about those that name a file. Programs
 * without one begin with code that does the same (runtime/entry.c). Where
 * counters are, hooks also report threads and processes that begin and end.
 */
#ifndef HOOKS_HOOKS_H
#define HOOKS_HOOKS_H

#include "cfg/cfg.h"
#include "rewrite/plan.h"
#include "abi/profile_format.h"

/* what a program of the machine executes can be seen */
bool hooks_exist(uint16_t e_machine);
/*
 * Counters of another plan, which is joined behind this one
 * (rewrite/insert/join.h) with data_align isa->page and begins its memory with
 * them. Code of an ET_EXEC image subtracts the thread's word from their
 * addresses, all other adds it (runtime/counting.h).
 */
struct counter_layout {
	uint64_t ncounter; /* 0: none in this object, and no such plan */
	uint8_t id[PROFILE_ID];
	bool by_hand;      /* a program begins with code of ours, so that it can
			      be run without a launcher */
	uint64_t counters; /* so far from the beginning of its memory */
	/* as in object_header.h: their distances are that plan's constants, the
	   room begins its memory */
	uint32_t nsite;
	uint32_t running, nevent; /* as in object_header.h */
	bool traps;
	bool traces; /* OBJECT_HEADER_TRACES */
	bool addresses; /* OBJECT_HEADER_ADDRESSES */
	bool waits;	/* OBJECT_HEADER_WAITS */
	bool syscalls;	/* every system call is reported, before all else */
	uint64_t highest;
	/* of object_header.h: where in the plan's constants and support code,
	   and how much */
	uint32_t callee, ncallee, calls_size;
	bool takes_slot; /* OBJECT_HEADER_TAKES */
	bool left_out;   /* OBJECT_HEADER_LEFT_OUT */
	uint64_t client; /* address of its struct client, or 0 */
	/* indirect jumps and calls whose targets are reported */
	const struct hooks_jump *jump;
	uint32_t njump;
};

struct hooks_jump {
	uint64_t at;     /* its address */
	uint32_t number; /* by which it is known, below HOOKS_JUMPS */
	bool table;      /* through a table of ours (isa/move.h, tell) */
	uint8_t index;   /* of it, a register */
	regset reads;    /* registers that say where it leads */
};

enum { HOOKS_JUMPS = 1 << 27 };

/* code subtracts threads' words, where the machine's does either */
bool hooks_subtract(const struct cfg *c);

/* what is inserted there; call_at and code are left out */
struct insertion hooks_jump_insertion(const struct isa *isa,
				      const struct hooks_jump *j);

/*
 * A plan that inserts nothing else; false if the machine has no hook yet.
 * layout is NULL if nothing is counted in any object of the program. Of use
 * until hooks_plan_free().
 */
bool hooks_plan(struct plan *p, const struct cfg *c,
		const struct counter_layout *layout);
void hooks_plan_free(struct plan *p);

#endif
