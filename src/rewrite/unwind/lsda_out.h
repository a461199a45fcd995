/*
 * lsda_out: exception tables (elf/pointer.h) of moved procedures.
 *
 * Call sites and landing pads get their new addresses, pointers to types are
 * encoded for their new place, actions and lists of types are copied.
 *
 * Personality routines do not agree on everything that the format allows:
 * compiler-rt's __gcc_personality_v0 skips LPStart and takes landing pads to
 * be relative to the procedure. So LPStart is left out, as compilers do, and
 * of the rest we use what all can read:
 *
 *	every landing pad behind the procedure's start	call sites in uleb
 *	some before it (in another part)		in sdata4
 *	one at the start itself, whose 0 would be none	LPStart, udata4
 *
 * The last needs a procedure that begins with a landing pad; compilers put a
 * nop there for the same reason.
 */
#ifndef REWRITE_UNWIND_LSDA_OUT_H
#define REWRITE_UNWIND_LSDA_OUT_H

#include "base/buffer.h"
#include "elf/pointer.h"
#include "rewrite/survey/moved.h"

/* an exception table, read whole */
struct lsda_in {
	call_sites site;
	struct bytes actions;
	struct bytes types; /* the last one first, as they lie there */
	struct bytes lists; /* of types, from TType on */
	uint8_t type_encoding; /* POINTER_OMIT if no type is used */
};

/*
 * Reads f's exception table; NULL, or why it cannot be written anew. What l
 * held before is replaced; it starts zeroed.
 */
const char *lsda_read(struct lsda_in *l, const struct image *im,
		      const struct fde *f);
void lsda_free(struct lsda_in *l);
/*
 * Appends the table to out, whose first byte will be at `base`, for the part
 * that went to p. False if something does not fit in 32 bits.
 */
bool lsda_write(buffer *out, uint64_t base, const struct lsda_in *l,
		const struct image *im, const struct moves *m,
		const struct place *p);

#endif
