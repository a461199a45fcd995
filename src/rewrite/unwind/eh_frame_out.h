/*
 * eh_frame_out: the new .eh_frame, entry by entry.
 *
 * Pointers in it are relative to their own place and have 4 bytes. CIEs that
 * say the same are written once.
 */
#ifndef REWRITE_UNWIND_EH_FRAME_OUT_H
#define REWRITE_UNWIND_EH_FRAME_OUT_H

#include "base/dict.h"
#include "rewrite/unwind/cfi_out.h"

/* a CIE that is written */
struct cie_out {
	uint64_t key, key_size; /* what it says, in eh_frame_out.key */
	uint64_t addr;
};

/* the writer; zeroed but for the first three */
struct eh_frame_out {
	buffer *out;
	uint64_t base; /* address of out's first byte */
	struct cfi_out cfi;
	bool far; /* a pointer did not fit */

	buffer key;
	VEC(struct cie_out) cie;
	struct dict cie_of; /* the old CIE's address to index in cie */
	struct dict cie_like; /* hash of a key to index in cie */
};

/* NULL if CIEs like c can be written, else the reason why not */
const char *cie_can_write(const struct image *im, const struct cie *c);
/*
 * Appends f for the code that went to p, with its exception table at `lsda`
 * (0: none), or if p is NULL for code that stayed. Returns the address of the
 * FDE, or 0 with nothing written but perhaps a CIE if f is not understood.
 */
uint64_t fde_write(struct eh_frame_out *o, const struct fde *f,
		   const struct place *p, uint64_t lsda);
void eh_frame_out_free(struct eh_frame_out *o);

#endif
