/*
 * pieces: counts what a long thread did, in pieces of its stream that are
 * walked at the same time: each from the first state in it that says where
 * control is and what calls are open (walk_int.h) to that of the next piece.
 *
 * The walk of a piece sees whether that state says the same as it knows itself;
 * and the walk of the next one, whether it needed to know more. Where either is
 * not so, the thread is walked from there as a whole: counts are always those
 * of one walk.
 */
#ifndef TRACE_REGENERATE_PIECES_H
#define TRACE_REGENERATE_PIECES_H

#include "trace/regenerate/walk.h"

struct pieces {
	size_t most;   /* pieces at most */
	size_t chunks; /* of a piece at least */
	/* what is told: of so many, so many agreed */
	size_t n, agreed;
	bool lost;   /* it was not known where control was, for a while */
	bool broken; /* a chunk could not be read */
};

/*
 * Adds to what `to' has counted (its plans and *c); false: there are no pieces,
 * and nothing was done.
 */
bool pieces_count(struct pieces *p, struct walks *to,
		  const struct trace_thread *t, struct walk_counts *c);

#endif
