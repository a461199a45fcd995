/*
 * intern: strings by number. Equal strings get the same number, from 0 in the
 * order in which they came, and are kept once.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stdbool.h>

#include "base/mem.h"

struct intern {
	VEC(const char *) string; /* by number */
	uint32_t *slot;		  /* number + 1, or 0: hashed, open */
	size_t cap;		  /* a power of two, or 0 */
	struct arena arena;
};

uint32_t intern(struct intern *in, const char *s);
/* whether it has a number */
bool intern_has(const struct intern *in, const char *s);
/* the string that is kept */
const char *intern_string(struct intern *in, const char *s);
void intern_free(struct intern *in);

#endif
