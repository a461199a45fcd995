/*
 * pointer: DW_EH_PE pointer encodings, as unwind tables use them.
 *
 *	7  6 5 4   3 2 1 0
 *	|  base    format		0xff: omitted
 *	indirect: the value is the address of the pointer
 *
 * Text- and data-relative pointers have no base on our machines: libgcc uses
 * 0 there, and so do we, except for .eh_frame_hdr, whose own address is the
 * data base.
 */
#ifndef ELF_POINTER_H
#define ELF_POINTER_H

#include "base/bytes.h"
#include "elf/image.h"
#include "elf/unwind.h"

enum {
	POINTER_ABSOLUTE = 0x00, /* format: 8 bytes; base: none */
	POINTER_ULEB = 0x01,
	POINTER_UDATA2 = 0x02,
	POINTER_UDATA4 = 0x03,
	POINTER_UDATA8 = 0x04,
	POINTER_SIGNED = 0x08, /* 8 bytes */
	POINTER_SLEB = 0x09,
	POINTER_SDATA2 = 0x0a,
	POINTER_SDATA4 = 0x0b,
	POINTER_SDATA8 = 0x0c,
	POINTER_FORMAT = 0x0f, /* mask */

	POINTER_PCREL = 0x10,
	POINTER_TEXTREL = 0x20,
	POINTER_DATAREL = 0x30,
	POINTER_FUNCREL = 0x40,
	POINTER_ALIGNED = 0x50,
	POINTER_BASE = 0x70, /* mask */

	POINTER_INDIRECT = 0x80,
	POINTER_DIRECT = POINTER_FORMAT | POINTER_BASE, /* mask */
	POINTER_OMIT = 0xff,
};

struct pointer_base {
	uint64_t data, func;
};

/*
 * Reads an encoded pointer (not POINTER_OMIT); an encoded 0 stays 0 whatever
 * its base. False if it does not decode, with *value 0.
 */
bool pointer_read(struct bytes *b, const struct image *im, uint8_t encoding,
		  const struct pointer_base *base, uint64_t *value);

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
