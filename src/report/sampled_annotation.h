/*
 * sampled_annotation: a procedure, instruction by instruction: how many samples
 * fell on each, what it is, and where in the source it comes from.
 */
#ifndef REPORT_SAMPLED_ANNOTATION_H
#define REPORT_SAMPLED_ANNOTATION_H

#include "report/sampled_wanted.h"
#include "source/disassembly.h"

struct sampled_noted {
	uint64_t addr;
	const char *text; /* disassembled, NULL: it could not be */
	uint64_t samples[SAMPLED_EVENTS];
	struct line_place place; /* file NULL: not known */
};

struct sampled_annotation {
	struct sampled_found f;
	uint64_t total[SAMPLED_EVENTS]; /* of the procedure */
	VEC(struct sampled_noted) v; /* by address */
	struct disassembly disassembly;
};

/* of the procedure that the user means: sampled_wanted() */
int sampled_annotation_make(struct sampled_annotation *a, struct sampled *s,
			    const char *word, const char *image,
			    struct err *e);
void sampled_annotation_free(struct sampled_annotation *a);

#endif
