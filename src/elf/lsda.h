/*
 * lsda: a procedure's exception table, for code that needs more of it than
 * its call sites.
 *
 *	LPStart encoding   u8, then LPStart unless omitted
 *	type encoding      u8, then uleb distance to TType unless omitted
 *	call-site encoding u8
 *	size of the call-site table   uleb
 *	call sites: start, length, landing pad (as encoded), action (uleb)
 *	actions: filter, distance to the next from itself (sleb both)
 *	types: pointers, the first directly before TType, the others before
 *	TType: lists of types (uleb numbers, a 0 at the end)
 *
 * Starts are relative to the procedure, landing pads to LPStart, which is the
 * procedure's start if omitted; a landing pad of 0 is none. An action is the
 * offset of its record in the action table plus 1, and 0 for none. A filter
 * n > 0 is the n-th type, n < 0 the list at TType - n - 1, 0 a cleanup.
 */
#ifndef ELF_LSDA_H
#define ELF_LSDA_H

#include "elf/pointer.h"
#include "elf/unwind.h"

struct lsda {
	const struct image *im;
	const struct fde *fde;
	uint64_t pad_base;
	uint8_t encoding;      /* of call sites */
	uint8_t type_encoding; /* POINTER_OMIT if it has no types */
	uint64_t types;	       /* TType, 0 if it has none */
	struct bytes table;    /* call sites not yet read */
	struct bytes rest;     /* what is behind them, from the actions on */
};

/* reads up to the call-site table of f's; false if it does not decode */
bool lsda_open(struct lsda *l, const struct image *im, const struct fde *f);
/*
 * Reads one call site; false if it does not decode, does not lie in the FDE
 * or its landing pad is not code. requires: bytes_left(&l->table)
 */
bool lsda_next(struct lsda *l, struct call_site *site);

#endif
