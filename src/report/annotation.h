/*
 * annotation: a procedure, instruction by instruction: how often each ran, what
 * it is, which way branches went, and where in the source it comes from.
 */
#ifndef REPORT_ANNOTATION_H
#define REPORT_ANNOTATION_H

#include "source/disassembly.h"
#include "source/told.h"

struct noted {
	uint64_t addr;
	const char *text; /* disassembled, NULL: it could not be */
	uint64_t count;
	bool known;
	const char *in_place; /* not NULL: it was not measured, and why */
	/* of a conditional branch, if both are known */
	bool is_branch;
	uint64_t taken, fell;
	const char *callee; /* what a direct call calls, NULL: none */
	struct line_place place; /* file NULL: not known */
};

struct annotation {
	const struct told_image *m;
	uint32_t proc;
	VEC(struct noted) v; /* by address */
	struct disassembly disassembly;
};

void annotation_make(struct annotation *a, const struct told *t,
		     uint32_t image, uint32_t proc);
void annotation_free(struct annotation *a);

#endif
