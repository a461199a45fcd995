/*
 * way_back: from addresses of the new code to old ones, in a section of the
 * rewritten file that is not loaded. For an address the old one is told of the
 * instruction that runs next: inserted code, and the jump of a stub, count as
 * done, an instruction that is written in several as not begun.
 *
 * The section is a list of stretches by new address, numbers in LEB128:
 *
 *	new address - the last one's, times 2, plus 1 if old and new
 *	addresses grow together in the stretch, else all of it means one
 *	old address - the last one's, signed
 */
#ifndef REWRITE_WAY_BACK_H
#define REWRITE_WAY_BACK_H

#include <stdbool.h>

#include "base/err.h"
#include "rewrite/buffer.h"
#include "rewrite/moved.h"

#define WAY_BACK_SECTION ".tally.back"

struct stretch {
	uint64_t new, old;
	bool runs; /* old + (address - new), else old */
};

struct way_back {
	VEC(struct stretch) stretch; /* by new address */
};

/* appends the section's bytes */
void way_back_write(const struct moves *m, buffer *out);
/* reads them; -1 if they are cut off */
int way_back_read(struct way_back *w, const uint8_t *bytes, size_t size);
/* 0 if the address is before all moved code */
uint64_t way_back_find(const struct way_back *w, uint64_t new);
void way_back_free(struct way_back *w);

#endif
