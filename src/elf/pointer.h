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

#include "elf/bytes.h"
#include "elf/image.h"

enum {
	POINTER_ABSOLUTE = 0x00,
	POINTER_FORMAT = 0x0f, /* mask */
	POINTER_INDIRECT = 0x80,
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

#endif
