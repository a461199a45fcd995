/*
 * unwind_out: unwind and exception tables of the new file.
 *
 * The new file gets one .eh_frame_hdr whose sorted table covers the FDEs of
 * code that stayed and new FDEs for the code that moved, with the LSDAs that
 * those need (rewriting.md 3.7). The FDEs that stayed are not copied: the
 * search table points at them where they are.
 *
 *	unwind_can_move()    before anything is laid out: an FDE or LSDA that
 *	                     is not understood keeps its code in place
 *	unwind_out_make()    when all new addresses are known
 */
#ifndef REWRITE_UNWIND_OUT_H
#define REWRITE_UNWIND_OUT_H

#include "elf/image.h"
#include "elf/unwind.h"
#include "rewrite/moved.h"

/*
 * NULL if the FDE's tables can be written anew for code that moves, else the
 * reason why not, for people.
 */
const char *unwind_can_move(const struct image *im, const struct fde *f);

struct unwind_out {
	VEC(uint8_t) bytes; /* what the new segment holds from `addr` on */
	uint64_t addr;
	uint64_t hdr, hdr_size;	    /* .eh_frame_hdr, addresses */
	uint64_t frame, frame_size; /* .eh_frame */
	uint64_t lsda, lsda_size;   /* .gcc_except_table */
};

/*
 * Fills out, whose address is given: hdr, frame and LSDAs one behind the
 * other, to be mapped readable at addr (a multiple of 16). How large it gets
 * does not depend on addr by more than padding. -1 if a value does not fit
 * (more than 2 GiB apart).
 */
int unwind_out_make(struct unwind_out *out, uint64_t addr,
		    const struct image *im, const struct unwind *u,
		    const struct moves *m, struct err *e);
void unwind_out_free(struct unwind_out *out);

#endif
