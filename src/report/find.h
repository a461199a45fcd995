/*
 * find: the procedure that the user means: by its name as it is shown, by its
 * symbol, by its name without arguments, as fn_ADDRESS or 0xADDRESS (any in
 * it). Of several the one that ran most or, if none was counted, that has most
 * samples.
 */
#ifndef REPORT_FIND_H
#define REPORT_FIND_H

#include "profile/dataset.h"

struct found {
	uint32_t image;	 /* in dataset.image */
	uint32_t proc;	 /* in its map; MAP_NONE: in none */
	struct samples_place at; /* else: where it has samples */
	uint32_t others; /* that are called so, too */
};

/* whether procedure p of the image is meant by the word */
bool find_is(const struct counts_image *m, uint32_t p, const char *word);
/* image: only of that one; NULL: of any. -1 and *e if there is none */
int find_procedure(struct found *f, struct dataset *d, const char *word,
		   const char *image, struct err *e);
/*
 * From now on the image's file is looked at with its owner's rights alone
 * (sandbox.h), if it was found in a database; -1 and *e: it must not be looked
 * at.
 */
int found_become_owner(const struct found *f, const struct dataset *d,
		       struct err *e);

#endif
