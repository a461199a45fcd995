/*
 * reverse_map: from addresses of the new code to old ones, in a section of the
 * rewritten file that is not loaded. For an address the old one is told of the
 * instruction that runs next: inserted code, and the jump of a stub, count as
 * done, an instruction that is written in several as not begun.
 *
 * The section is a list of ranges by new address, numbers in LEB128:
 *
 *	new address - the last one's, times 5, plus enum range_kind
 *	old address - the last one's, signed
 */
#ifndef REWRITE_OUTPUT_REVERSE_MAP_H
#define REWRITE_OUTPUT_REVERSE_MAP_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/err.h"
#include "rewrite/insert/plt_stubs.h"
#include "rewrite/survey/marks.h"
#include "rewrite/survey/moved.h"

#define REVERSE_MAP_SECTION ".tally.back"
/* the section of all new code, support code and stubs of the linker first */
#define REVERSE_MAP_TEXT ".tally.text"

enum range_kind {
	RANGE_NONE,     /* no moved code */
	RANGE_RUN,      /* as it was: old and new addresses grow together */
	RANGE_ONE,      /* one instruction in another form */
	RANGE_INSERTED, /* what was not there, and leads to an old address */
	RANGE_BEFORE,   /* inserted before an instruction, on all ways to it */
	RANGE_KINDS,
};

/* was code of that kind not there before? */
static inline bool range_is_inserted(uint8_t kind)
{
	return kind == RANGE_INSERTED || kind == RANGE_BEFORE;
}

struct code_range {
	uint64_t new, old;
	uint8_t kind; /* enum range_kind */
};

struct reverse_map {
	VEC(struct code_range) range; /* by new address */
};

/* appends the section's bytes */
void reverse_map_write(const struct moves *m, const struct links *l,
		       const struct cfg *c, const struct marks *marks,
		       buffer *out);
/*
 * The reverse map as a table that is loaded, for code of ours that looks things
 * up in the program: of each range the new address, from new_base, and the old
 * one, from old_base, 4 bytes each; with REVERSE_MAP_CODE if nothing is
 * inserted there, REVERSE_MAP_RUN if both grow together, and REVERSE_MAP_NONE
 * where there is no moved code.
 */
#define REVERSE_MAP_RUN UINT32_C(0x80000000)
#define REVERSE_MAP_CODE UINT32_C(0x40000000)
#define REVERSE_MAP_NONE UINT32_C(0x3fffffff)
enum { REVERSE_MAP_ENTRY = 8 };
void reverse_map_table(const struct moves *m, const struct links *l,
		       const struct cfg *c, const struct marks *marks,
		       uint64_t new_base, uint64_t old_base, buffer *out);
/* reads them; -1 if they are cut off */
int reverse_map_read(struct reverse_map *w, const uint8_t *bytes, size_t size);
/* what is at a new address */
struct place_back {
	uint8_t kind; /* enum range_kind */
	uint64_t old;
	uint64_t start, end; /* of the range, new addresses */
};
struct place_back reverse_map_find(const struct reverse_map *w, uint64_t new);
void reverse_map_free(struct reverse_map *w);

#endif
