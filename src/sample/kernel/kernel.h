/* kernel: where the kernel and its modules are, and which kernel it is. */
#ifndef SAMPLE_KERNEL_KERNEL_H
#define SAMPLE_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

enum { KERNEL_BUILD_ID = 32, MODULE_NAME = 64 };

struct kernel_part {
	uint64_t start, end;
	char name[MODULE_NAME]; /* "[kernel]", or "[MODULE]" */
	bool module;
};

struct kernel {
	const char *proc; /* where it is described; NULL: in /proc */
	VEC(struct kernel_part) part; /* by start */
	uint64_t looked; /* at its modules; seconds of the steady clock */
	uint8_t build_id[KERNEL_BUILD_ID];
	uint32_t build_id_len;
};

/* without the right to know addresses there are no parts */
void kernel_read(struct kernel *k);
/*
 * An address is in no part: perhaps a module was loaded. Looks, if that was not
 * done a moment ago; true: parts are others now.
 */
bool kernel_look_again(struct kernel *k);
/* the part that the address is in, or NULL */
const struct kernel_part *kernel_find(const struct kernel *k, uint64_t addr);
void kernel_free(struct kernel *k);
/* the build-id of the running kernel; its length, 0: not known */
uint32_t kernel_build_id(uint8_t id[KERNEL_BUILD_ID]);

#endif
