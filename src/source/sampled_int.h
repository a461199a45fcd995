/* sampled_int: what the files that read databases share. See sampled.h. */
#ifndef SOURCE_SAMPLED_INT_H
#define SOURCE_SAMPLED_INT_H

#include "source/sampled.h"

/* the number of the event of that name, new if need be; -1: too many */
int sampled_event_of(struct sampled *s, const char *name, const char *file,
		     struct err *e);
/* what adds up to more than numbers have room for; -1 */
int sampled_too_many(const char *file, const char *what, struct err *e);
/* the image, new if need be; it stays where it is until the next one */
struct sampled_image *sampled_image_of(struct sampled *s,
				       const struct stored_image *is);

#endif
