/*
 * kernel_names: what the running kernel calls its code. A database may be of
 * another: then it is not asked.
 */
#ifndef PROFILE_SYMBOLS_KERNEL_NAMES_H
#define PROFILE_SYMBOLS_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct kernel_name {
	uint64_t offset; /* from _stext */
	const char *name;
};

struct kernel_names {
	VEC(struct kernel_name) v; /* by offset */
	struct arena arena;
};

/* false if it is another kernel than the one with this build-id, or hidden */
bool kernel_names_read(struct kernel_names *n, const uint8_t *build_id,
		       uint32_t len);
/* the one that covers the offset, or NULL */
const struct kernel_name *kernel_names_find(const struct kernel_names *n,
					    uint64_t offset);
void kernel_names_free(struct kernel_names *n);

#endif
