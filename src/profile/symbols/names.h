/*
 * names: what the symbol tables of an object call its code. They are read
 * once, sorted, and searched.
 */
#ifndef PROFILE_SYMBOLS_NAMES_H
#define PROFILE_SYMBOLS_NAMES_H

#include "base/mem.h"
#include "profile/symbols/object.h"

struct name {
	uint64_t start, end;
	const char *symbol; /* of the object's */
};

struct names {
	VEC(struct name) v; /* by start, one for each */
};

void names_read(struct names *n, const struct object *o);
void names_free(struct names *n);
/* the one that covers the address, or NULL */
const struct name *names_find(const struct names *n, uint64_t addr);

/*
 * Where a symbol of the object is, of code; several may be at one place, of
 * which names_find() knows one. False: there is none.
 */
bool names_address(const struct object *o, const char *symbol, uint64_t *at);

/*
 * A symbol as its author wrote it, without the version that it may have: from
 * C++ or Rust, to be freed. NULL: it is not mangled.
 */
char *name_demangle(const char *symbol);

#endif
