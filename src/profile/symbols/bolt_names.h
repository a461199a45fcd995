/*
 * bolt_names: the functions of an object as LLVM's BOLT knows them: by the
 * names in .symtab, where a local one has its number among those of its name
 * ("step/2": the second by address); what has no name there, but an unwind
 * table, by its address. In profiles for it branches are given by these names.
 */
#ifndef PROFILE_SYMBOLS_BOLT_NAMES_H
#define PROFILE_SYMBOLS_BOLT_NAMES_H

#include "base/mem.h"
#include "profile/symbols/object.h"

struct bolt_function {
	uint64_t start, end;
	const char *name;
};

struct bolt_names {
	VEC(struct bolt_function) v; /* by start, disjoint */
	struct arena arena;
};

/* `path`: the object's file */
void bolt_names_read(struct bolt_names *n, const struct object *o,
		     const char *path);
void bolt_names_free(struct bolt_names *n);
/* the one that covers the address, or NULL */
const struct bolt_function *bolt_names_find(const struct bolt_names *n,
					    uint64_t addr);

#endif
