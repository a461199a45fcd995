/*
 * pclntab: Go's table of functions, which every Go program carries: the
 * runtime walks stacks with it. It lists every function, of Go and of its
 * assembler, with its bounds and name.
 *
 *	header:  magic, 0, 0, instruction alignment, pointer size,
 *	         number of functions and files, start of the text,
 *	         offsets of names, files, tables and functions
 *	functions: {entry, where the description is} by address, and the end
 *
 * Read are the forms of Go 1.18 and 1.20; older ones are only recognised.
 */
#ifndef ELF_PCLNTAB_H
#define ELF_PCLNTAB_H

#include "elf/image.h"

struct go_func {
	uint64_t start, end; /* without the gap to the next one */
	/* where the runtime goes on after a panic was recovered, 0 if nowhere:
	   it calls what was deferred, and returns to the caller */
	uint64_t deferreturn;
	const char *name; /* in the image's bytes */
};

struct pclntab {
	bool found; /* there is one */
	bool known; /* of a form that is read */
	struct go_func *func; /* by address */
	size_t n;
};

/* looks for it; free the result */
void pclntab_read(struct pclntab *t, const struct image *im);
void pclntab_free(struct pclntab *t);

#endif
