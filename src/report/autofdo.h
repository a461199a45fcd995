/*
 * autofdo: how often the lines of functions ran, function by function and, in
 * them, inlined call by inlined call, as compilers want to be told (LLVM's
 * sample profile, of AutoFDO): a line by its distance from the one that the
 * function begins with, and, of lines with several blocks, which one it is.
 *
 * A place runs as often as the one of its instructions that runs most. Where a
 * compiler made copies of code (unrolled loops), its debug information says
 * how many, and each counts for all.
 *
 * Functions are known by the names that linkers know: those of one name in
 * several files or images are added up, as the compiler cannot tell them
 * apart. Code without debug information is not here.
 */
#ifndef REPORT_AUTOFDO_H
#define REPORT_AUTOFDO_H

#include "base/dict.h"
#include "profile/counts.h"

#define AUTOFDO_NONE UINT32_MAX

/* a place in a function: distance in lines << 16 | block of the line */
#define autofdo_line(place) ((place) >> 16)
#define autofdo_block(place) ((place)&0xffff)

/* a function, or a call that was inlined into one */
struct autofdo_node {
	uint32_t function; /* in autofdo.name */
	uint32_t parent;   /* what it is inlined into, or AUTOFDO_NONE */
	uint32_t place;    /* there */
	uint64_t total;    /* instructions that ran in it, inlined ones too */
	bool known;        /* of some of them that is known */
	uint64_t calls;    /* of a function: how often it was called */
	bool calls_known;
};

struct autofdo_body {
	uint32_t node, place;
	uint64_t count;
	bool known;
};

/* calls from a place of the body */
struct autofdo_target {
	uint32_t body;
	uint32_t function;
	uint64_t count;
};

struct autofdo {
	struct intern name;
	VEC(struct autofdo_node) node; /* parents come first */
	VEC(struct autofdo_body) body;
	VEC(struct autofdo_target) target;
	/* how all of these are found */
	struct dict by_pointer, site, by_site, by_place, by_callee;
	uint32_t nsite;
};

void autofdo_make(struct autofdo *s, const struct counts *t);
/*
 * Instead: an instruction with those frames, n of them, has so many samples.
 * Begins with an empty *s. How often functions were called is not known then,
 * and given as 0.
 */
void autofdo_add(struct autofdo *s, const struct line_frame *f, unsigned n,
		 uint64_t count);
void autofdo_free(struct autofdo *s);

#endif
