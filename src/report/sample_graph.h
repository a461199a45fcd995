/*
 * sample_graph: a procedure of databases in the form of one that was counted,
 * so that it can be drawn: its flow graph, as its file has it now, and of each
 * block its samples. How often ways were gone samples do not tell.
 */
#ifndef REPORT_SAMPLE_GRAPH_H
#define REPORT_SAMPLE_GRAPH_H

#include "report/find.h"
#include "profile/counts.h"

struct sample_graph {
	struct counts t; /* of one image */
	struct counts_image image;
	struct map map;
	struct symbolizer symbolizer;
	uint32_t proc;     /* in the map */
	const char *event; /* that is counted: the first */
	uint64_t samples;  /* in its blocks */
	uint64_t others;   /* of the procedure, but in none of them: they are
			      in code that is not understood */
	uint64_t total;    /* of all that was sampled */
};

/* on -1 nothing needs freeing: its file is not there, or not understood */
int sample_graph_make(struct sample_graph *x, struct dataset *d,
		      const struct found *f, struct err *e);
void sample_graph_free(struct sample_graph *x);

#endif
