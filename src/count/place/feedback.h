/*
 * feedback: what edges counted in an earlier run, as weights for where to put
 * counters in the next (`Feedback` in the tables of Ball & Larus '92).
 */
#ifndef COUNT_PLACE_FEEDBACK_H
#define COUNT_PLACE_FEEDBACK_H

#include "count/profile/profile.h"
#include "count/solve/solve.h"

/* an image of the profile, solved */
struct feedback {
	struct profile profile;
	const struct map *map; /* NULL: the profile knows nothing of it */
	struct solved solved;
	struct arena arena;
};

/*
 * Opens the profile and looks for the image by the hash of its bytes. -1 and
 * *e only if the profile cannot be read.
 */
int feedback_open(struct feedback *f, const char *profile, uint64_t file_sum,
		  struct err *e);
void feedback_close(struct feedback *f);
/*
 * Counts of the edges of procedure p of map m, a map of the same image: as
 * many as it has, in its order. NULL if they are not all known.
 */
const uint64_t *feedback_edges(const struct feedback *f, const struct map *m,
			       const struct map_proc *p);

#endif
