/*
 * plan: what to insert where. The rewriter does not know why.
 *
 * Code goes before an instruction, on all ways to it, or on an edge: one of
 * the cfg, or one of those on which control comes into a procedure. These are
 * all:
 *
 *	PLAN_EDGE            any edge of the cfg. To a hub: all that jumps
 *	                     there. To a landing pad: when an exception of
 *	                     that call lands.
 *	PLAN_HUB             from a hub to one of its targets
 *	PLAN_ENTRY           by a direct call, or a direct jump of another
 *	                     procedure
 *	PLAN_INDIRECT_ENTRY  by the old address: by a pointer (a call or a jump
 *	                     that is not understood), by a jump table that is
 *	                     not copied, from code that stays in place; at a
 *	                     landing pad also by an exception of something
 *	                     that is no call
 *	PLAN_TRAMPOLINE      by the old address of an instruction that begins no
 *	                     block, in a procedure that control may enter
 *	                     anywhere
 *
 * So a block runs as often as the sum over its edges, PLAN_HUB, PLAN_ENTRY
 * and PLAN_INDIRECT_ENTRY says. Which of them can carry code survey.h tells.
 *
 * The rewriter finds registers that may be overwritten (saving some where none
 * is dead), decides where the code lies, and asks the plan to write it once all
 * addresses are known. How long code is may depend on what it gets (struct
 * scratch), never on its address.
 *
 * A plan that asks for what cannot be is refused (rewrite_image() fails), but
 * for code in what stays in place: that is left out, and the report says how
 * often.
 */
#ifndef REWRITE_PLAN_H
#define REWRITE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "isa/isa.h"

enum plan_place {
	PLAN_BEFORE,         /* `at` is the address of an instruction */
	PLAN_EDGE,           /* the number of an edge of the cfg */
	PLAN_HUB,            /* the number of a target in cfg->hub_target */
	PLAN_ENTRY,          /* the number of a block */
	PLAN_INDIRECT_ENTRY, /* the number of a block */
	PLAN_TRAMPOLINE,     /* the address of an instruction */
};

struct insertion {
	uint64_t at;
	uint32_t code; /* what, in the plan's own numbering */
	uint8_t place; /* enum plan_place */
	uint8_t nregs; /* general registers that it overwrites, at most 4 */
	uint8_t flags; /* FLAG_ bits: condition flags that it overwrites */
	/*
	 * It has another form, for places where some of those flags are live:
	 * one that leaves them alone and overwrites so many registers.
	 */
	bool keeps;
	uint8_t nregs_keeping;
	bool memory;   /* reads or writes memory */
	bool calls;    /* calls support code, call_at bytes into it; stands
			  nearest to the instruction, whatever the order */
	uint8_t owner; /* whose, if plans were joined (join.h) */
	uint32_t call_at;
	/*
	 * How often it is expected to run, and how often control is expected
	 * to fall through to the block that its edge leads to; in any unit,
	 * the same for all in a procedure. 0: not known.
	 */
	float often, past;
	regset keep; /* registers that no code at the place may overwrite, not
			even if it saves them: this one reads them */
};

/* what the code may use */
struct scratch {
	uint8_t reg[6]; /* the first nregs of them */
	bool keep; /* no flags, if it can do without: insertion.keeps */
	uint8_t dead_flags; /* FLAG_ bits that are dead there */
	regset dead; /* all registers that are dead there and that no code at
			the place has to keep: it may overwrite these, too */
	uint32_t depth; /* of the stack pointer, below where the program has
			   it: registers are saved there */
};

/*
 * Where what belongs to the plan lies in the new file. For code that calls,
 * `support` is what it has to call: the place it asked for, or one that leads
 * there and is near enough.
 */
struct plan_bases {
	uint64_t data, support, constants;
	/* the table of reverse_map.h, if calls leave old return addresses:
	   where, how many entries, and what new addresses are counted from */
	uint64_t back, nback, back_base;
};

struct survey;

struct plan {
	/* what the plan was made from; NULL: a survey is made for it */
	const struct survey *survey;
	VEC(struct insertion) insertion; /* any order; several at one place
					    are written in this order, but for
					    those that call */
	uint64_t data_size; /* bytes of zeroed memory that the code uses */
	uint64_t data_align; /* a power of two up to isa->page; 0: 16 */
	/*
	 * Code that insertions may call, once per file: support() writes
	 * support_size bytes of it.
	 */
	uint32_t support_size;
	/* memory that is only read; constants() writes it when all code has
	   been written */
	uint64_t constant_size;
	/* not 0: the program begins this far in it, and not where it did */
	uint32_t entry;
	/*
	 * Not 0: an entry of the dynamic section by this tag gets the address
	 * of what is dynamic_at bytes into the support code. If the file has
	 * such a section, but no room for one more entry, nothing is written.
	 */
	int64_t dynamic_tag;
	uint32_t dynamic_at;
	/* a section that is not loaded, for tools that read the file; NULL:
	   none */
	const char *section_name;
	/* another one, that leads from new addresses to old (reverse_map.h) */
	bool reverse_map;
	void *ctx;
	/* bytes of code */
	unsigned (*size)(void *ctx, const struct insertion *i,
			 const struct scratch *s);
	/*
	 * Writes them to `out`; they will run at `addr`. False: something is
	 * out of reach.
	 */
	bool (*write)(void *ctx, const struct insertion *i,
		      const struct scratch *s, uint64_t addr,
		      const struct plan_bases *bases, uint8_t *out);
	bool (*support)(void *ctx, const struct plan_bases *bases,
			uint8_t *out);
	void (*constants)(void *ctx, const struct plan_bases *bases,
			  uint8_t *out);
	/* what is in the section, if it has a name: asked for last */
	const uint8_t *(*section)(void *ctx, size_t *size);
};

#endif
