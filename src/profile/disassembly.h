/*
 * disassembly: instructions as text, for people. binutils or LLVM write it:
 * whichever of them is installed and knows the machine.
 */
#ifndef PROFILE_DISASSEMBLY_H
#define PROFILE_DISASSEMBLY_H

#include <stdint.h>

#include "base/mem.h"
#include "isa/isa.h"

struct disassembled {
	uint64_t addr;
	const char *text;
};

struct disassembly {
	VEC(struct disassembled) v; /* by address */
	const struct isa *isa;
	const char *file;
	unsigned tool; /* of those that there are, the first that knows how */
	struct arena arena;
};

void disassembly_init(struct disassembly *d, const struct isa *isa,
		      const char *file);
/*
 * Adds what lies from start to end, behind all that was read before; nothing
 * if no tool knows how; what is there may be partial.
 */
void disassembly_read(struct disassembly *d, uint64_t start, uint64_t end);
void disassembly_free(struct disassembly *d);
/* the text of the instruction at an address, or NULL */
const char *disassembly_at(const struct disassembly *d, uint64_t addr);

#endif
