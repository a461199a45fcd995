/*
 * trace_profile: what a trace (doc/trace.md) tells, as a profile: threads are
 * replayed, and each time that control goes along an edge is counted. That is
 * what `tally count` would have left of the same run.
 */
#ifndef PROFILE_TRACE_PROFILE_H
#define PROFILE_TRACE_PROFILE_H

#include "base/progress.h"
#include "count/profile/profile.h"

/* opens a trace, or else a profile; requires: `is` comes first */
struct trace_opener {
	struct profile_opener is;
	struct progress *progress; /* or NULL */
};

struct trace_opener trace_opener(struct progress *progress);

#endif
