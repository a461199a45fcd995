/*
 * pads: where old code leads to the new, on machines whose instructions may be
 * shorter than a jump.
 *
 * A pad is a jump at an old address at which control may arrive (arrive.c). It
 * may overwrite the old code behind it up to the next such address, and padding
 * between procedures, but nothing of what stays in place. Where that is too
 * little, a short jump leads to a jump nearby:
 *
 *	at:  hop jump        at: jump jump jump jump jump
 *	 ...
 *	jump: jump jump jump jump jump      (old code or padding nearby)
 *
 * Constants are sometimes loaded out of the code itself (V8 shares them with
 * instructions that have them): such bytes stay what they are.
 *
 * In files at fixed addresses any number may be an address. Those that are not
 * believed to be one (cfg/discover.c) get no pads, but no pad covers them: who
 * arrives there all the same finds the old code.
 *
 * A part in which control may arrive where there is no room for either stays
 * in place; then others may arrive elsewhere, and all is looked at again.
 */
#ifndef REWRITE_PADS_H
#define REWRITE_PADS_H

#include <stdint.h>

struct pad {
	uint64_t at;   /* the old address */
	uint64_t jump; /* where the jump is; not at `at`: a hop leads there */
};

#endif
