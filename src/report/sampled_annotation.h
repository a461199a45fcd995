/*
 * sampled_annotation: a procedure, instruction by instruction: how many samples
 * fell on each, what it is, and where in the source it comes from.
 */
#ifndef REPORT_SAMPLED_ANNOTATION_H
#define REPORT_SAMPLED_ANNOTATION_H

#include "source/disassembly.h"
#include "source/sampled.h"

struct sampled_noted {
	uint64_t addr;
	const char *text; /* disassembled, NULL: nobody could */
	uint64_t samples[SAMPLED_EVENTS];
	struct line_place place; /* file NULL: not known */
};

struct sampled_annotation {
	struct sampled_image *m;
	struct sampled_place of; /* the procedure */
	uint32_t others; /* that are called so, too, and have samples */
	uint64_t total[SAMPLED_EVENTS]; /* of the procedure */
	VEC(struct sampled_noted) v; /* by address */
	struct disassembly disassembly;
};

/*
 * The procedure that the user means (wanted.h), of several the one with most
 * samples; image: only of that one, NULL: of any. -1 and *e if none has any.
 */
int sampled_annotation_make(struct sampled_annotation *a, struct sampled *s,
			    const char *word, const char *image,
			    struct err *e);
void sampled_annotation_free(struct sampled_annotation *a);

#endif
