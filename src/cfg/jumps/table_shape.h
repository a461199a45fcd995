/*
 * table_shape: the shape of an indirect jump's target.
 *
 * Compilers reach the cases of a switch in a few ways (doc/how-cfg-works.md,
 * "Jump tables"), which are all one: entry i of a table in constant memory,
 * perhaps shifted and added to a base.
 *
 *	gcc, x86      target = mem8[T + 8 i]
 *	gcc/clang PIC target = B + sext(mem4[T + 4 i])       B is often T
 *	AArch64       target = B + ext(mem1,2,4[T + s i]) << 2
 *
 * table_match() recognises the shape in a closed value; table_entry() reads
 * where one entry leads.
 */
#ifndef CFG_JUMPS_TABLE_SHAPE_H
#define CFG_JUMPS_TABLE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/image.h"

struct values;

struct table {
	uint64_t address; /* T: of entry 0 */
	uint64_t base;	  /* B; 0 for absolute entries */
	uint64_t stride;  /* distance of entries */
	uint8_t size;	  /* bytes of an entry: 8 means absolute */
	uint8_t shift;
	bool sign;
	uint32_t index;	  /* closed value */
};

enum table_shape {
	SHAPE_TABLE,
	SHAPE_FIXED,	/* one known address: base */
	SHAPE_SLOT,	/* a pointer stored at a fixed place: address */
	SHAPE_LABEL,	/* a whole pointer out of memory */
	SHAPE_VALUE,	/* a whole pointer from elsewhere */
	SHAPE_POINTER,	/* something else */
};

/* recognises the target of an indirect jump; fills *t as far as it applies */
enum table_shape table_match(struct values *s, uint32_t target,
			     struct table *t);
/* the target that entry i leads to; false if the image has no entry there */
bool table_entry(const struct image *im, const struct table *t, uint64_t i,
		 uint64_t *target);

#endif
