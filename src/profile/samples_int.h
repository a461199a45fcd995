/* samples_int: what the files that read databases share. See samples.h. */
#ifndef PROFILE_SAMPLES_INT_H
#define PROFILE_SAMPLES_INT_H

#include "profile/samples.h"

/* the number of the event of that name, new if need be; -1: too many */
int samples_event_of(struct samples *s, const char *name, const char *file,
		     struct err *e);
/* what adds up to more than numbers have room for; -1 */
int samples_too_many(const char *file, const char *what, struct err *e);
/* the image, new if need be; it stays where it is until the next one */
struct samples_image *samples_image_of(struct samples *s,
				       const struct stored_image *is);

#endif
