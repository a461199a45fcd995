/*
 * jit: code that a program makes while it runs. Runtimes that are asked to
 * (node --perf-basic-prof, java with an agent, ...) say what it is in
 * /tmp/perf-PID.map, a line for each procedure: START SIZE NAME, both numbers
 * in hexadecimal. Later lines are of code that took the place of earlier one.
 * The number is the one that the process has for itself, in its container.
 */
#ifndef SAMPLE_JIT_JIT_H
#define SAMPLE_JIT_JIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"

struct jit_procedure {
	uint64_t start, end;
	const char *name;
};

struct jit {
	VEC(struct jit_procedure) v; /* each once */
	struct arena text;
};

/*
 * Opens a plain file by the name that the process has for it or, once it is
 * gone, by ours; *owner is the user that the file should be of: the process's
 * or, if that is not known any more, this one. A process that has just ended
 * still has a number, but no folders.
 */
int jit_open_file(uint32_t pid, bool gone, const char *its, const char *ours,
		  struct stat *file, uid_t *owner, struct err *e);
/*
 * A descriptor of the file, for jit_read(); -1: there is none. The
 * file has to be of the process's user. Of a process that is gone (`gone`) the
 * user is not known: then the file has to be ours.
 */
int jit_open(uint32_t pid, bool gone);
/*
 * What it has so far of addresses, n in order: of each by the latest line
 * that has it. Memory is taken for addresses, not for lines, of which there may
 * be any number.
 */
void jit_read(struct jit *j, int fd, const uint64_t *address, size_t n);
void jit_free(struct jit *j);

#endif
