/*
 * placer: which edges of procedures write to a trace, and what.
 *
 *	every-branch	each edge out of a predicate, a byte
 *	bits		the same, as many bits as need be
 *	witness		blocking witnesses (Ball & Larus '92, 4), or bits where
 *			these are cheaper
 *
 * The codes go into the map (count/map/map.h), by which a trace is replayed.
 */
#ifndef TRACE_PLACE_PLACER_H
#define TRACE_PLACE_PLACER_H

#include "count/place/placing.h"
#include "count/place/routines.h"

enum trace_encoding {
	TRACE_WITNESS,
	TRACE_BITS,
	TRACE_EVERY_BRANCH,
	TRACE_ENCODINGS,
};

extern const char *const trace_encoding_names[TRACE_ENCODINGS];

struct trace_placer {
	struct placer placer; /* for struct count_options */
	enum trace_encoding encoding;
	bool addresses; /* and what those of accesses are computed from */
	bool insns; /* they are counted (TRACE_PAGE_INSNS) */
	bool *begins; /* by procedure: tracing begins with it; NULL: at once */
	struct routines routines;
};

/* `from`: procedures that tracing begins with (only.h), or NULL: at once.
   `insns`: threads count their instructions, for what ends by number.
   -1: traces of programs of the machine are not recorded, or tally is not
   installed */
int trace_placer_begin(struct trace_placer *x, const struct cfg *c,
		       enum trace_encoding encoding, bool addresses,
		       const char *from, bool insns, struct err *e);
void trace_placer_free(struct trace_placer *x);

#endif
