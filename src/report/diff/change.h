/*
 * change: what is different in the counts of two runs: rows of places of a
 * kind, what changed most first, with what has no counterpart in the other.
 * Instructions are the same if their blocks are (match_blocks.h), or are the
 * n-th of blocks with equally many; lines by image, file and number.
 */
#ifndef REPORT_DIFF_CHANGE_H
#define REPORT_DIFF_CHANGE_H

#include "profile/metric.h"
#include "report/by_line.h"
#include "report/diff/match.h"

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
	/* of blocks and edges: numbers in the maps, or MATCH_NONE; of
	   instructions, those of their blocks */
	uint32_t part_a, part_b;
	uint64_t address_a, address_b; /* of instructions */
	const char *file;	       /* of a line, in changes.lines */
	uint32_t line;
	bool listed; /* it is asked for */
	enum change_code code;
	/* of images and procedures instructions executed, of others
	   executions */
	struct side_count before, after;
	struct side_count calls_before, calls_after; /* of procedures */
	/* of a procedure that changed: its blocks */
	uint32_t same, changed, only_before, only_after;
	/* of a procedure that is in both: edges that ran more or less often */
	uint32_t edges;
};

/* what to list */
struct change_query {
	enum by by;  /* BY_IMAGE, _PROCEDURE, _LINE, _BLOCK, _EDGE or
			_INSTRUCTION */
	bool all;    /* also what did not change */
	bool keep;   /* what is not to be listed is there, too */
	double share; /* changes of at least that share of all instructions,
			 in the run that executed more */
	const char *image, *procedure; /* only these, or NULL */
};

struct changes {
	const struct match *m;
	enum by by;
	VEC(struct change) v;
	struct line_counts lines[2]; /* by line: of both runs */
	bool any; /* difference at all in what was asked for */
	bool found; /* there is what was asked for, in one of them at least */
};

void changes_make(struct changes *c, const struct match *m,
		  const struct change_query *q);
void changes_free(struct changes *c);

/* the image and the procedure, in the run that has them, the second one if both
   do */
const struct counts_image *change_image(const struct match *m,
					const struct change *x);
const char *change_procedure(const struct match *m, const struct change *x);
/* what is inside of the row's procedure is there from now on, in both runs */
void change_need(const struct match *m, const struct change *x);
/* how a row's edge is called, in the run that has it; requires that */
const char *change_edge_name(const struct match *m, const struct change *x);
/* whether both counts are known, as far as they are there */
bool change_known(const struct change *x);
/* how a kind of code is called in every output */
const char *change_code_name(enum change_code code);

#endif
