/*
 * jit: code that a program makes while it runs. Runtimes that are asked to
 * (node --perf-basic-prof, java with an agent, ...) tell what it is in
 * /tmp/perf-PID.map, a line for each procedure: START SIZE NAME, both numbers
 * in hexadecimal. Later lines are of code that took the place of earlier one.
 * The number is the one that the process has for itself, in its container.
 */
#ifndef SAMPLE_JIT_H
#define SAMPLE_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct jit_procedure {
	uint64_t start, end;
	const char *name;
	size_t line; /* where in the file it is told */
};

struct jit {
	VEC(struct jit_procedure) v; /* by start, the last line first */
	struct arena text;
};

/* a descriptor of the file, for jit_read(); -1: the process does not tell */
int jit_open(uint32_t pid);
/* what it has told so far */
void jit_read(struct jit *j, int fd);
/* what is at the address, by the latest line that says so, or NULL */
const struct jit_procedure *jit_find(const struct jit *j, uint64_t address);
void jit_free(struct jit *j);

#endif
