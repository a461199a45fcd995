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
#ifndef REWRITE_CFI_PLAIN_H
#define REWRITE_CFI_PLAIN_H

#include "rewrite/cfi_state.h"

/*
 * As cfi_open(), for a caller that asks about [from, end) only: there the last
 * rule of the CFA, if it is such an expression, is told by rows. If that cannot
 * be done, or nothing is asked about, all is as it was.
 */
bool cfi_open_part(struct cfi *c, const struct image *im, const struct fde *f,
		   uint64_t from, uint64_t end);

#endif
