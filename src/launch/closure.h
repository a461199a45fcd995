/*
 * closure: the libraries that ld.so will load with a program, found by its
 * rules: RPATH, LD_LIBRARY_PATH, RUNPATH, ld.so.cache, the system's folders;
 * LD_PRELOAD; $ORIGIN, $LIB and $PLATFORM.
 *
 * All of them can be rewritten before the program starts, so that a user at
 * the terminal sees why it takes a while. It need not be exact: the audit
 * module asks for what is missing here, and of libraries in several versions
 * for several processors (glibc-hwcaps) all are taken.
 *
 * Nothing is said of programs of musl, which knows no audit modules.
 */
#ifndef LAUNCH_CLOSURE_H
#define LAUNCH_CLOSURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "elf/needs.h"

struct closure {
	VEC(char *) path; /* of files that are there, each once */
	VEC(char *) missing; /* names that were not found */
	uint64_t tls, tls_align; /* of all of them, see needs.h */
	struct arena arena;
};

/*
 * Fills c for the program at `path` (links resolved) with these needs. root:
 * the folder in which an emulator finds the files of its machine, or "".
 */
void closure_find(struct closure *c, const char *path, const struct needs *n,
		  const char *root);
void closure_free(struct closure *c);

/*
 * ldcache: ld.so.cache, glibc's list of installed libraries. Only the format
 * that ldconfig writes since 2.32 is read; of anything else nothing is known.
 */

struct ldcache {
	uint8_t *bytes; /* mapped; NULL if there is none */
	size_t size;
	uint32_t n; /* entries, all inside */
};

void ldcache_open(struct ldcache *l, const char *path);
void ldcache_close(struct ldcache *l);
/*
 * The path of the next library `name` for the machine at or after entry *i,
 * which moves behind it; NULL if there is no more.
 */
const char *ldcache_next(const struct ldcache *l, const char *name,
			 uint32_t flags, uint32_t *i);

#endif
