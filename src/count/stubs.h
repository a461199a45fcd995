/*
 * stubs: how often the linker's stubs ran. They stay as they are, as unwinders
 * and debuggers know them by their bytes; but all calls of them are known.
 */
#ifndef COUNT_STUBS_H
#define COUNT_STUBS_H

#include "count/solve.h"

/* procedures from the first stub to behind the last: the linker's few pages */
struct stubs {
	size_t first, end;
};
struct stubs stubs_of(const struct map *m);

/* a procedure comes to a stub */
struct stub_call {
	uint32_t stub, proc;
	uint64_t count;
	bool known;
};

struct stub_calls {
	struct stubs stubs;
	VEC(struct stub_call) v;
};

/* adds those of a procedure, which has to be there */
void stub_calls_list(struct stub_calls *c, const struct solved *s,
		     uint32_t proc);
/* how often stubs were called, by one list of several */
void stub_calls_add(const struct stub_calls *c, struct solved *s);

/* what calls of a stub say is what its block and edges say */
void solve_stub(const struct solved *s, uint32_t proc);

#endif
