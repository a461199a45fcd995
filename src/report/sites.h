/*
 * sites: what called what, how often. Direct calls and jumps are edges of the
 * map, and so are the targets of a jump through a table of its own; of other
 * indirect ones the profile has pairs, if they were measured. What pairs do
 * not account for is listed as such: nothing is left out.
 */
#ifndef REPORT_SITES_H
#define REPORT_SITES_H

#include "profile/counts.h"

/* how control leaves a call site */
enum site_kind {
	SITE_DIRECT_CALL,
	SITE_DIRECT_JUMP, /* to another procedure */
	SITE_INDIRECT_CALL,
	SITE_INDIRECT_JUMP, /* anywhere */
};

#define SITE_NONE UINT32_MAX

struct site_count {
	uint32_t image, proc; /* in counts.image, and in its map */
	uint64_t addr;	      /* of the call or jump */
	uint64_t to;	      /* address of what was called, */
	uint32_t to_image;    /* in counts.image; SITE_NONE: not known */
	uint32_t number;      /* in the list */
	uint8_t kind;	      /* enum site_kind */
	bool known;	      /* the count is */
	uint64_t count;
	const char *to_unknown; /* why it is not known what was called */
};

typedef VEC(struct site_count) site_counts;

/*
 * Appends the call sites of a procedure, each with one of its callees;
 * requires: counts_load().
 */
void sites_list(site_counts *out, const struct counts *t, uint32_t image,
		uint32_t proc);
/*
 * The name of the procedure that a call site's callee is, or is in; NULL if it
 * is none that the map knows. Requires: to_image is known.
 */
const char *site_callee(const struct counts *t, const struct site_count *s);
/* how a kind of call site is called in every output */
const char *site_kind_name(unsigned kind);

#endif
