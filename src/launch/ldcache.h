/*
 * ldcache: ld.so.cache, glibc's list of installed libraries. Only the format
 * that ldconfig writes since 2.32 is read; of anything else nothing is known.
 */
#ifndef LAUNCH_LDCACHE_H
#define LAUNCH_LDCACHE_H

#include <stddef.h>
#include <stdint.h>

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
