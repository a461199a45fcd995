/*
 * sampled_rows: samples added up by what people ask for, most first (dcpiprof).
 */
#ifndef REPORT_SAMPLED_ROWS_H
#define REPORT_SAMPLED_ROWS_H

#include "source/sampled.h"

enum sampled_by {
	SAMPLED_IMAGE,
	SAMPLED_PROCEDURE,
	SAMPLED_LINE,
	SAMPLED_INSTRUCTION,
};

struct sampled_row {
	uint32_t image;	 /* in sampled.image; of what has no image: none */
	const char *procedure; /* of a line: of one of its instructions */
	const char *symbol; /* of the procedure */
	const char *file;
	uint32_t line;
	uint64_t start;	  /* of the procedure */
	uint64_t address; /* of the procedure, or the instruction */
	uint64_t samples[SAMPLED_EVENTS];
};

struct sampled_rows {
	VEC(struct sampled_row) v;
};

struct sampled_wish {
	enum sampled_by by;
	const char *image, *procedure; /* patterns, or NULL */
};

/* most first */
void sampled_rows_make(struct sampled_rows *r, struct sampled *s,
		       const struct sampled_wish *w);
/* by image, procedure and address instead */
void sampled_rows_by_place(struct sampled_rows *r);
void sampled_rows_free(struct sampled_rows *r);

#endif
