/*
 * rebind: a function of a library that is not rewritten is called by way of
 * ours, by the program and by all libraries.
 *
 * When a loader has done its work, everything is bound already, or will be by
 * the symbol tables that lie in memory. So the symbol of the function leads to
 * ours from now on (what is bound later: lazily, by dlsym(), in objects that
 * dlopen() loads), and so does every word that a relocation has made the
 * function's address (what is bound). Both are found as the loader found
 * them. Nothing is changed in files, nor in code.
 *
 *	caller: call *GOT[f]     GOT[f] = ours        (relocations)
 *	dlsym("f")               f.st_value = ours    (symbol table)
 *	ours: ... call real
 *
 * Not seen is what calls an address that it looked up before this, and the
 * library itself, where it calls its function directly.
 */
#ifndef RUNTIME_REBIND_H
#define RUNTIME_REBIND_H

#include "runtime/counting.h"
#include "runtime/loaded.h"

struct object {
	uintptr_t base; /* what is added to addresses of the file */
	const struct elf_segment *segment;
	uint32_t nsegment;
	const struct elf_dynamic *dynamic;
};

struct binding {
	const char *name;
	uintptr_t ours;
	uintptr_t real; /* 0: no library has it */
};

/*
 * Fills the list with all objects that are loaded (struct object), the program
 * first. `stack`: as the kernel left it. Requires: the program is an image of
 * c. False: they cannot be found.
 */
_Bool objects_find(struct counting *c, uintptr_t *stack, struct list *objects);
/* the first definition in a library, or 0; *own: the program has one, too */
uintptr_t object_symbol(const struct list *objects, const char *name,
			_Bool *own);
/* the first variable of that name, the program's or a library's; or NULL */
const void *object_data(const struct list *objects, const char *name);
/*
 * Binds n functions, whose `real` is known or 0, to ours. False: not
 * everywhere.
 */
_Bool rebind(const struct counting *c, const struct list *objects,
	     const struct binding *b, unsigned n);

#endif
