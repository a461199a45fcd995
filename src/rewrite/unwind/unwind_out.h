/*
 * unwind_out: unwind and exception tables of the new file.
 *
 * The new file gets one .eh_frame and one .eh_frame_hdr, complete: FDEs for
 * the code that moved, with the LSDAs that those need, and
 * copies of the FDEs of code that stayed, whose LSDAs stay where they are.
 * No unwinder then needs the old tables, whether it searches the header's
 * table (libgcc) or reads from the front (gdb, perf). Only FDEs that we do not
 * understand stay where they are, and the table points there.
 *
 *	unwind_can_move()    before anything is laid out: an FDE or LSDA that
 *	                     is not understood keeps its code in place
 *	unwind_out_make()    when all new addresses are known
 *
 * Rows and landing pads are moved like the instructions at their addresses;
 * that they are at the beginning of one is for the caller to check, which has
 * the cfg.
 */
#ifndef REWRITE_UNWIND_UNWIND_OUT_H
#define REWRITE_UNWIND_UNWIND_OUT_H

#include "base/buffer.h"
#include "elf/image.h"
#include "elf/unwind.h"
#include "rewrite/survey/moved.h"

/*
 * NULL if the FDE's tables can be written anew for code of it that moves, from
 * one address to another, else the reason why not, for people. Only of that
 * code may rows be said in place of an expression (cfi_out.h).
 */
const char *unwind_can_move(const struct image *im, const struct fde *f,
			    uint64_t from, uint64_t end);

struct unwind_out {
	buffer bytes; /* what the new segment holds from `addr` on */
	uint64_t addr;
	uint64_t hdr, hdr_size;	    /* .eh_frame_hdr, addresses */
	uint64_t lsda, lsda_size;   /* .gcc_except_table */
	uint64_t frame, frame_size; /* .eh_frame */
};

/*
 * Fills out, whose address is given: hdr, LSDAs and frame one behind the
 * other, to be mapped readable at addr (a multiple of 16). How large it gets
 * does not depend on addr. -1 if a value does not fit (more than 2 GiB
 * apart), or if a part was moved against the advice of unwind_can_move().
 */
int unwind_out_make(struct unwind_out *out, uint64_t addr,
		    const struct image *im, const struct unwind *u,
		    const struct moves *m, struct err *e);
void unwind_out_free(struct unwind_out *out);

#endif
