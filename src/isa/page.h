/*
 * page: the addresses that instructions make, also in two steps: a page, and
 * what is added to it (REF_PAGE). Instructions are shown in the order of the
 * code, which is right wherever it matters.
 */
#ifndef ISA_PAGE_H
#define ISA_PAGE_H

#include "isa/isa.h"

struct pages {
	uint64_t page[32]; /* by register */
	regset known;
};

/* after scan(): does the instruction make an address? Then *addr is it */
static inline bool pages_step(struct pages *p, const struct insn *in,
			      uint64_t *addr)
{
	bool one = in->reads && !(in->reads & (in->reads - 1));
	bool adds = in->has_imm && one && (in->reads & p->known);

	if (adds)
		*addr = p->page[__builtin_ctz(in->reads)] + in->imm;
	else if (in->ref_kind == REF_ADDRESS)
		*addr = in->ref;
	p->known &= ~in->writes;
	if (in->ref_kind == REF_PAGE && in->writes) {
		p->page[__builtin_ctz(in->writes)] = in->ref;
		p->known |= in->writes;
	}
	return adds || in->ref_kind == REF_ADDRESS;
}

#endif
