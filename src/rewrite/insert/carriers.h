/*
 * carriers: what every place of an image's moved code can carry, and at what
 * cost, in one flat table. It is made once for a kind of code; a plan is then
 * made by reading bytes.
 *
 * All edges of moved code can carry code, but for these:
 *
 *   - between a load-exclusive and its store-exclusive (cfg/live/exclusive.h);
 *   - of a jump table that is not ours (survey/jump_tables.h,
 *     survey/computed_goto.h), or from code that stays in place: such a jump
 *     passes the old text, and is seen at the target (PLAN_INDIRECT_ENTRY);
 *   - to a landing pad in another procedure;
 *   - of a call that never comes back, if it has landing pads: what does not
 *     land there is only known as a difference.
 */
#ifndef REWRITE_INSERT_CARRIERS_H
#define REWRITE_INSERT_CARRIERS_H

#include "rewrite/survey/survey.h"

/* of a place */
enum {
	CARRIER_CAN = 1,   /* code can be inserted there */
	CARRIER_SAVES = 2, /* with registers saved, as too few are dead */
	CARRIER_JUMPS = 4, /* in a stub, which jumps back */
};

/* of a block; see survey.h */
enum {
	SURVEY_MOVES = 1,
	SURVEY_ENTERED = 2, /* survey_indirect_entry() */
	SURVEY_COPIES = 4,  /* survey_copies() */
};

/* an instruction of a procedure that control may enter anywhere */
struct carrier_insn {
	uint64_t addr;
	uint8_t before, trampoline; /* PLAN_BEFORE, PLAN_TRAMPOLINE */
};

struct carriers {
	uint8_t *block; /* what is to know of each block of the cfg */
	/* by block: PLAN_BEFORE its first instruction, and its last, if that
	   is a call, an indirect jump or the last of all; PLAN_ENTRY and
	   PLAN_INDIRECT_ENTRY, where it has such */
	uint8_t *start, *last, *entry, *indirect_entry;
	uint8_t *edge; /* by edge of the cfg: PLAN_EDGE */
	uint8_t *hub;  /* by number in cfg->hub_target: PLAN_HUB */
	VEC(struct carrier_insn) insn; /* by address */
};

/* `code`: what is to be inserted, at no place yet */
void carriers_make(struct carriers *t, const struct survey *s,
		   const struct insertion *code);
void carriers_free(struct carriers *t);
/* the instruction, of a procedure that control may enter anywhere */
const struct carrier_insn *carriers_insn(const struct carriers *t,
					 uint64_t addr);

/*
 * NULL if that one insertion can be made, else the reason why not, for people.
 * The code of several insertions at one place is judged one by one.
 */
const char *insertion_obstacle(const struct survey *s,
			       const struct insertion *i);

#endif
