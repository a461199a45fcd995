/*
 * trampolines: where old code leads to the new, on machines whose instructions
 * may be shorter than a jump.
 *
 * A trampoline is a jump at an old address at which control may arrive
 * (indirect_entry.c). It may overwrite the old code behind it up to the next
 * such address, and padding between procedures, but nothing of what stays in
 * place. Where that is too little, a short jump leads to a jump nearby:
 *
 *	at:  hop jump        at: jump jump jump jump jump
 *	 ...
 *	jump: jump jump jump jump jump      (old code or padding nearby)
 *
 * Constants are sometimes loaded out of the code itself (V8 shares them with
 * instructions that have them): such bytes stay what they are.
 *
 * In files at fixed addresses any number may be an address. Those that are not
 * believed to be one (cfg/discover/discover.c) get no trampolines, but no
 * trampoline covers them: if control arrives there all the same it finds the
 * old code, and what that leads to. Most cannot be one: they lead into the
 * middle of an instruction. Others are, but no old code runs there: a
 * trampoline is there, or they are entries of a jump table that is known, whose
 * targets have trampolines if it is not copied (indirect_entry.c).
 *
 * A part in which control may arrive where there is no room for either stays
 * in place; then others may arrive elsewhere, and all is looked at again.
 */
#ifndef REWRITE_SURVEY_TRAMPOLINES_H
#define REWRITE_SURVEY_TRAMPOLINES_H

#include <stdint.h>

/* a number that may be an address of code */
struct number {
	uint64_t value;
	uint64_t place; /* of the word that it is; 0: an instruction has it */
};

struct trampoline {
	uint64_t at;   /* the old address */
	uint64_t jump; /* where the jump is; not at `at`: a hop leads there */
};

#endif
