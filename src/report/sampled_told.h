/*
 * sampled_told: a procedure of databases in the form of one that was counted,
 * so that it can be drawn: its flow graph, as its file has it now, and of each
 * block its samples. How often ways were gone samples do not tell.
 */
#ifndef REPORT_SAMPLED_TOLD_H
#define REPORT_SAMPLED_TOLD_H

#include "report/find.h"
#include "source/told.h"

struct sampled_told {
	struct told t; /* of one image */
	struct told_image image;
	struct map map;
	struct legend legend;
	uint32_t proc;	     /* in the map */
	const char *event;   /* that is counted: the first */
	uint64_t samples;    /* in its blocks */
	uint64_t others;     /* of the procedure, but in none of them: they are
				in code that is not understood */
	uint64_t total;	     /* of all that was sampled */
};

/* on -1 nothing needs freeing: its file is not there, or not understood */
int sampled_told_make(struct sampled_told *x, struct dataset *d,
		      const struct found *f, struct err *e);
void sampled_told_free(struct sampled_told *x);

#endif
