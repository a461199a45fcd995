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

#endif
