/*
 * cfi_out: the instructions of FDEs whose code moved.
 *
 * The instructions stay what they are, in their order, so states that are
 * remembered and restored need no care; only the addresses between them are
 * new. Code inserted before an instruction belongs to that instruction's row:
 *
 *	old	a   b   | c		a row begins at c
 *	new	a X b   | Y c		X, Y: inserted
 *	stubs	like c, like a		behind the body
 *
 * A push inside inserted code makes rows of its own if anything is told by
 * the stack pointer. A stub has the state of the instruction that it is like;
 * what differs from the state before it is written out.
 */
#ifndef REWRITE_UNWIND_CFI_OUT_H
#define REWRITE_UNWIND_CFI_OUT_H

#include "rewrite/survey/moved.h"
#include "rewrite/unwind/cfi_state.h"

/* a stub's `like`, and the state there once it is known */
struct cfi_like {
	uint64_t old;
	uint32_t stub;	/* from the part's first */
	uint32_t state; /* in cfi_out.state, or UINT32_MAX */
};

/* the writer; zeroed but for the first three */
struct cfi_out {
	const struct image *im;
	const struct unwind *unwind;
	const struct moves *moves;

	buffer *out;
	struct cfi run;	  /* the instructions being written */
	struct cfi probe; /* for states at other addresses */
	uint64_t at;	  /* new address reached by what is written */
	uint64_t want;	  /* the one that the next instruction is about */
	const struct push *push, *push_end; /* not yet written */
	VEC(struct cfi_like) like;
	VEC(struct cfi_state) state;
	struct cfi_state pushed; /* the state inside a push */
	buffer block;		 /* its expressions */
	buffer change;
};

/*
 * Appends f's instructions to `out`: for the code that went to p or, if p is
 * NULL, for code that stayed. False if they are not understood.
 */
bool cfi_write(struct cfi_out *o, buffer *out, const struct fde *f,
	       const struct place *p);
void cfi_out_free(struct cfi_out *o);

/*
 * cfi_plain: rows in place of an expression that asks where the code is.
 *
 * One FDE tells of all stubs of the linker on x86-64, by an expression of the
 * program counter: behind the eleventh byte of each something is pushed.
 *
 *	CFA = rsp + 8 + ((rip & 15) >= 11) * 8
 *
 * Of any few of them it is as well said by rows, which can be moved.
 */

/*
 * As cfi_open(), for a caller that asks about [from, end) only: there the last
 * rule of the CFA, if it is such an expression, is told by rows. If that cannot
 * be done, or nothing is asked about, all is as it was.
 */
bool cfi_open_part(struct cfi *c, const struct image *im, const struct fde *f,
		   uint64_t from, uint64_t end);

#endif
