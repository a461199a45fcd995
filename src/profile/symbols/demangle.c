/* demangle: names of C++ and Rust as their authors wrote them (libiberty). */
#include <libiberty/demangle.h>
#include <stdlib.h>

#include "profile/symbols/names.h"

char *name_demangle(const char *symbol)
{
	const char *at = strchr(symbol, '@');
	char *plain, *out;

	/* what is mangled begins so, in both languages and all versions */
	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
		return NULL;
	plain = strndup(symbol, at ? (size_t)(at - symbol) : strlen(symbol));
	out = plain ? cplus_demangle(plain, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO)
		    : NULL;
	free(plain);
	return out;
}
