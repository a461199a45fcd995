/*
 * find: the procedure that the user means: by its name as it is shown, by its
 * symbol, by its name without arguments, as fn_ADDRESS or 0xADDRESS (any in
 * it). Of several the one that ran most.
 */
#ifndef REPORT_FIND_H
#define REPORT_FIND_H

#include "source/told.h"

struct found {
	uint32_t image, proc;
	uint32_t others; /* that are called so, too */
};

/* whether procedure p of the image is meant by the word */
bool find_is(const struct told_image *m, uint32_t p, const char *word);
/* image: only of that one; NULL: of any. -1 and *e if there is none */
int find_procedure(struct found *f, const struct told *t, const char *word,
		   const char *image, struct err *e);

#endif
