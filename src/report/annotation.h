/*
 * annotation: a procedure, instruction by instruction: the values of each, what
 * it is, which way branches went, and where in the source it comes from.
 */
#ifndef REPORT_ANNOTATION_H
#define REPORT_ANNOTATION_H

#include "report/find.h"
#include "profile/disassembly.h"

struct noted {
	uint64_t addr;
	const char *text; /* disassembled, NULL: it could not be */
	uint32_t value;	  /* its first one, in annotation.values */
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
	struct dataset *data;	    /* or NULL: counts alone */
	const struct counts_image *m; /* or NULL: it is in no map */
	uint32_t proc;
	struct found found;
	VEC(struct noted) v; /* by address */
	struct disassembly disassembly;
	/* of each instruction one value for each metric of BY_INSTRUCTION */
	VEC(struct value) values;
	struct metric metric[METRICS]; /* total: of the procedure */
	unsigned metrics, first_event, events;
};

/* of a procedure that was counted, alone */
void annotation_make(struct annotation *a, const struct counts_image *m,
		     uint32_t proc);
/* of one that was found, with all that was measured */
void annotation_of(struct annotation *a, struct dataset *d,
		   const struct found *f);
void annotation_free(struct annotation *a);

static inline const struct value *noted_values(const struct annotation *a,
					       const struct noted *n)
{
	return &a->values.at[n->value];
}

#endif
