/*
 * plt_stubs: stubs of the linker (the PLT), written anew for the new code.
 *
 * What a stub finds in its word of memory is an old address, so that a call
 * by way of it takes a jump more than it did. A copy that is near that word
 * needs one instruction less, and leaves all registers as the stub does: the
 * loader's binder, to which it may lead, reads them. The old stubs stay, for
 * code that stays, too. Those that pointers lead to move like other procedures.
 */
#ifndef REWRITE_INSERT_PLT_STUBS_H
#define REWRITE_INSERT_PLT_STUBS_H

#include "cfg/cfg.h"

struct link {
	uint64_t old;  /* address of the stub */
	uint64_t word; /* where it finds its target */
};

struct links {
	VEC(struct link) link; /* by old address */
	uint64_t addr;         /* of the first copy */
};

/* those stubs whose words are in reach of copies that begin at addr */
void plt_stubs_find(struct links *l, const struct cfg *c, uint64_t addr);
/* the address of the copy of the stub at `old`, or 0 */
uint64_t plt_stubs_at(const struct links *l, const struct cfg *c, uint64_t old);
/* bytes of all copies */
uint64_t plt_stubs_size(const struct links *l, const struct cfg *c);
/* writes them */
void plt_stubs_write(const struct links *l, const struct cfg *c, uint8_t *out);

#endif
