/*
 * site_source: which instructions of a program have written the values of
 * registers that a thread's trace has, by a replay of it. What no replay asks
 * for is of a site of its own, byte by byte.
 */
#ifndef TRACE_PACK_SITE_SOURCE_H
#define TRACE_PACK_SITE_SOURCE_H

#include "trace/regenerate/replay.h"

struct site_source {
	struct replay replay;
	struct value_log log;
	size_t nlog;	/* of these that were used */
	uint64_t at;	/* the byte of the thread that is next */
	bool over;	/* the replay is */
	VEC(struct value_site) site;
};

/* the walks stay where they are until its end */
void site_source_begin(struct site_source *s, struct walks *w,
		       const struct trace_thread *t);
/* those of the values that follow, up to byte `end` of the thread's; until the
   next call */
struct value_sites site_source_take(struct site_source *s, uint64_t end);
void site_source_end(struct site_source *s);

#endif
