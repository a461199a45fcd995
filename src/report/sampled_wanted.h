/* sampled_wanted: the procedure of databases that the user means. */
#ifndef REPORT_SAMPLED_WANTED_H
#define REPORT_SAMPLED_WANTED_H

#include "source/sampled.h"

struct sampled_found {
	struct sampled_image *m;
	struct sampled_place of; /* the procedure */
	uint32_t others; /* that are called so, too, and have samples */
};

/*
 * By its name or an address (wanted.h), of several the one with most samples;
 * image: only of that one, NULL: of any. -1 and *e if none has any.
 */
int sampled_wanted(struct sampled_found *f, struct sampled *s,
		   const char *word, const char *image, struct err *e);
/*
 * From now on the image's file is looked at with its owner's rights alone
 * (sandbox.h); -1 and *e: it must not be looked at.
 */
int sampled_become_owner(const struct sampled_found *f, struct err *e);

#endif
