/*
 * by_line: how often every line of the source ran.
 *
 * The instructions of a line run unequally often. A line runs as often as the
 * one of them that runs most, in each copy of the function that it is in
 * (inlined calls and instances of templates), and all copies together: that is
 * what gcov counts, too, in code that is not optimized. Where the compiler left
 * nothing of a line but a mark where its statement would be, it ran as often as
 * what is there. Lines with instructions need no marks: these may be of an
 * empty statement behind one that did not run.
 */
#ifndef REPORT_BY_LINE_H
#define REPORT_BY_LINE_H

#include "base/intern.h"
#include "source/told.h"

struct line_count {
	uint32_t image; /* in told.image */
	uint32_t file;	/* in line_counts.file */
	uint32_t line;
	uint64_t count;
	uint64_t instructions; /* executed there */
	uint64_t passed;       /* how often its marks were passed */
	bool known;	       /* all are */
	bool own;	       /* it has instructions; else it has marks */
};

struct line_counts {
	VEC(struct line_count) v; /* by image, file, line */
	struct intern file;
};

/* all lines of all images with code that was measured, executed or not */
void line_counts_make(struct line_counts *c, const struct told *t);
void line_counts_free(struct line_counts *c);

#endif
