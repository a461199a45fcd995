/*
 * change: what is different in two runs: rows of procedures, of blocks or of
 * edges, what changed most first, with what has no counterpart in the other.
 */
#ifndef REPORT_CHANGE_H
#define REPORT_CHANGE_H

#include "report/match.h"

enum change_code {
	CODE_SAME,
	CODE_CHANGED,
	CODE_ONLY_BEFORE, /* it has no counterpart */
	CODE_ONLY_AFTER,
};

/* a count in one of the runs */
struct side_count {
	uint64_t n;
	bool known;
	bool there; /* false: there is no such thing in that run */
};

struct change {
	uint32_t image; /* in match.v */
	uint32_t a, b;	/* procedures, or MATCH_NONE */
	/* of blocks and edges: numbers in the maps, or MATCH_NONE */
	uint32_t part_a, part_b;
	enum change_code code;
	/* instructions executed; of a block or edge: executions */
	struct side_count before, after;
	struct side_count calls_before, calls_after; /* of procedures */
	/* of a procedure that changed: its blocks */
	uint32_t same, changed, only_before, only_after;
	/* of a procedure that is in both: edges that ran more or less often */
	uint32_t edges;
};

enum change_by {
	CHANGE_PROCEDURES,
	CHANGE_BLOCKS,
	CHANGE_EDGES,
};

/* what to list */
struct change_wish {
	enum change_by by;
	bool all;    /* also what did not change */
	double share; /* changes of at least that share of all instructions,
			 in the run that executed more; of procedures */
	const char *image, *procedure; /* only these, or NULL */
};

struct changes {
	const struct match *m;
	VEC(struct change) v;
	bool any; /* difference at all in what was asked for */
	bool found; /* there is what was asked for, in one of them at least */
};

void changes_make(struct changes *c, const struct match *m,
		  const struct change_wish *w);
void changes_free(struct changes *c);

/* the image and the procedure, in the run that has them */
const struct counts_image *change_image(const struct match *m,
					const struct change *x);
const char *change_procedure(const struct match *m, const struct change *x);
/* what is inside of the row's procedure is there from now on, in both runs */
void change_need(const struct match *m, const struct change *x);
/* how a row's edge is called, in the run that has it; requires that */
const char *change_edge_name(const struct match *m, const struct change *x);
/* how a kind of code is called in every output */
const char *change_code_name(enum change_code code);

#endif
