/*
 * targets: where indirect jumps led, as the thread that wrote them knew it:
 * each site's last target, and a table of targets by index (abi/trace.h).
 */
#ifndef TRACE_REGENERATE_TARGETS_H
#define TRACE_REGENERATE_TARGETS_H

#include "abi/trace.h"
#include "trace/regenerate/stream.h"

struct targets {
	uint64_t by_index[1 << TARGET_BITS];
	VEC(uint64_t) key, last; /* by site: a hash table, its size a power of
				    two; key 0: none */
	size_t n;
	/* some of this epoch were missed: sites that were not come to since
	   may lead anywhere */
	bool missed;
};

/* where the jump or call of a site leads next, any address of the site's own;
   false: the stream does not say */
bool targets_read(struct targets *t, struct stream *s, const void *site,
		  uint64_t *to);
/* sites may have led anywhere since, and that record, if there is one, was
   passed: its index is known still */
void targets_miss(struct targets *t, struct stream *s,
		  const struct trace_record *r);
void targets_free(struct targets *t);

#endif
