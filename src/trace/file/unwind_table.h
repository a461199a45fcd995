/*
 * unwind_table: how frames of an image's code are left: from unwind tables of
 * the rewritten file, which are for addresses of the code that runs, what a
 * replay needs that begins somewhere (trace/regenerate/unwind.h).
 *
 *	rules: number of them, then of each
 *		the register that the CFA is found by, + 1 (0: not known), and
 *		what is added to it (signed)
 *		number of registers that are not as they were, then of each its
 *		number, and where it is saved, from the CFA on, in units of 8
 *		bytes, zigzag, + 1 (0: not known)
 *	ranges: address less the last one's, rule + 1 (0: none)
 *
 * All numbers are LEB128; registers have their numbers of DWARF.
 */
#ifndef TRACE_FILE_UNWIND_TABLE_H
#define TRACE_FILE_UNWIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"

enum {
	UNWIND_REGS = 32, /* with lower numbers */
	UNWIND_NOWHERE = INT32_MAX,
};

struct unwind_saved {
	uint8_t reg;
	int32_t at; /* words above the CFA, or UNWIND_NOWHERE */
};

struct unwind_rule {
	uint8_t cfa; /* register, or UNWIND_REGS: not known */
	int64_t offset;
	uint32_t saved, nsaved; /* in the table's */
};

struct unwind_range {
	uint64_t start;
	uint32_t rule; /* + 1 */
};

struct unwind_table {
	VEC(struct unwind_rule) rule;
	VEC(struct unwind_saved) saved;
	VEC(struct unwind_range) range; /* by address */
};

/* appends that of a rewritten file; -1: it cannot be read */
int unwind_table_pack(const char *file, buffer *to, struct err *e);
/* -1: it is wrong, and nothing needs freeing */
int unwind_table_read(struct unwind_table *t, const uint8_t *bytes, size_t n);
/* of an address of code that runs; NULL: not known */
const struct unwind_rule *unwind_table_find(const struct unwind_table *t,
					    uint64_t address);
void unwind_table_free(struct unwind_table *t);

#endif
