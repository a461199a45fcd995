/*
 * live_walk: the chunks of a live profile (abi/profile_format.h), one after the
 * other, while the program writes it. It is read, not mapped: the program can
 * truncate it, or write anything there, at any time. The walk comes to an end
 * whatever it finds.
 */
#ifndef COUNT_PROFILE_LIVE_WALK_H
#define COUNT_PROFILE_LIVE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/profile_format.h"

struct live_walk {
	int fd;
	uint64_t end; /* of what is in use and in the file */
	uint64_t next; /* where the walk goes on */
	uint64_t at;  /* of the chunk */
	struct profile_chunk chunk; /* its head, as it was read */
	bool cut; /* the file became shorter: the walk has ended */
};

/* begins before the first chunk of an open file; false: it is no live profile
   that this tally can read */
bool live_walk_begin(struct live_walk *w, int fd);
/* begins at a chunk, of a profile up to `end` */
void live_walk_from(struct live_walk *w, int fd, uint64_t at, uint64_t end);
/* the next place that says it is a chunk; false: there is none */
bool live_walk_next(struct live_walk *w);
/* do the numbers of the chunk fit into the profile? */
bool live_walk_is_sound(const struct live_walk *w);
/* live_walk_next() that passes over what is not sound */
bool live_walk_next_sound(struct live_walk *w);
/* reads what belongs to a chunk, whole; false: it is not there */
bool live_read(int fd, uint64_t at, void *to, size_t n);

#endif
