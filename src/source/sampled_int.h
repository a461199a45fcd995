/* sampled_int: what the files that read databases share. See sampled.h. */
#ifndef SOURCE_SAMPLED_INT_H
#define SOURCE_SAMPLED_INT_H

#include "source/sampled.h"

/* the event of that name, new if need be; SAMPLED_EVENTS: too many */
uint32_t sampled_event_of(struct sampled *s, const char *name);
/* the image, new if need be; it stays where it is until the next one */
struct sampled_image *sampled_image_of(struct sampled *s,
				       const struct stored_image *is);

#endif
