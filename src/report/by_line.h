/*
 * by_line: how often every line of the source ran.
 *
 * The instructions of a line run unequally often, and several statements or
 * cases may be on it. What gcov says of code that is not optimized is meant
 * here, too: how often control came to the blocks that end with the line from
 * blocks that do not, and how often loops went round that are all on the line;
 * of a line that is in the middle of blocks only, how often these ran. But a
 * line ran no less often than any of its instructions. That is added up over
 * copies of the function (inlined calls and instances of templates).
 *
 * Exceptions that the line throws and catches do not come from elsewhere.
 * Functions that the compiler made (constructors and destructors that the
 * source does not have, what initializes globals) count where there is nothing
 * else on the line; and code that leaves a function, of which the compiler said
 * no line, where nothing else on the line ran.
 *
 * Where the compiler left nothing of a line but a mark where its statement
 * would be, it ran as often as what is there. Lines with instructions need no
 * marks: these may be of an empty statement behind one that did not run. The
 * line that declares a function ran as often as that began.
 */
#ifndef REPORT_BY_LINE_H
#define REPORT_BY_LINE_H

#include "base/dict.h"
#include "profile/counts.h"

struct line_count {
	uint32_t image; /* in counts.image */
	uint32_t file;	/* in line_counts.file */
	uint32_t line;
	uint64_t count;
	uint64_t instructions; /* executed there */
	uint64_t passed;       /* how often its marks were passed */
	bool known;	       /* all are */
	bool own; /* it has instructions, or opens a function; else marks */
	bool artificial; /* all of it is by the compiler */
};

struct line_counts {
	VEC(struct line_count) v; /* by image, file, line */
	struct intern file;
};

/* all lines of all images with code that was measured, executed or not */
void line_counts_make(struct line_counts *c, const struct counts *t);
void line_counts_free(struct line_counts *c);

#endif
