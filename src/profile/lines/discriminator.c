/*
 * discriminator: a number by which debug information tells apart several
 * blocks of one line. LLVM packs three numbers into it, each with as many bits
 * as it needs (DILocation::encodeDiscriminator): which block of the line it
 * is, how many copies of that code there are, and which of them this is.
 */
#include <dwarf.h>
#include <string.h>

#include "profile/lines/line_unit.h"

/* the number that comes first; *d is left with what follows it */
static uint32_t take_part(uint32_t *d)
{
	uint32_t u = *d >> 1, part;

	if (*d & 1) { /* none */
		*d = u;
		return 0;
	}
	part = u & 0x20 ? (u >> 1 & 0xfe0) | (u & 0x1f) : u & 0x1f;
	*d >>= *d & 0x40 ? 14 : 7;
	return part;
}

bool line_unit_is_llvm(struct line_unit *u)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_attr(&u->die, DW_AT_producer, &a)
				       ? dwarf_formstring(&a)
				       : NULL;

	return producer &&
	       (strstr(producer, "clang") || strstr(producer, "LLVM"));
}

void line_unit_discriminate(const struct line_unit *u, uint32_t d,
			    struct line_place *p)
{
	p->block = u->llvm ? (uint16_t)take_part(&d)
			   : (uint16_t)(d < UINT16_MAX ? d : UINT16_MAX);
	p->copies = u->llvm ? (uint16_t)take_part(&d) : 0;
	if (!p->copies)
		p->copies = 1;
}
