/*
 * content: what is in the blocks of an image, as numbers that are equal if the
 * instructions are, wherever they lie: addresses do not count, nor do
 * constants that may be some. So blocks of two builds can be compared.
 *
 * If the files are not there any more, only what the maps say is compared: how
 * many instructions a block has, and their lengths.
 */
#ifndef REPORT_DIFF_CONTENT_H
#define REPORT_DIFF_CONTENT_H

#include "profile/counts.h"

struct content {
	const struct counts_image *m;
	uint64_t *block; /* by number in the map */
	bool exact;	 /* by instructions, not by their lengths */
};

/* both by instructions, or both without; in the arena */
void content_make(struct arena *a, const struct counts_image *m,
		  struct content *x, const struct counts_image *n,
		  struct content *y);
/* one number for a procedure's blocks, in their order */
uint64_t content_procedure(const struct content *x, uint32_t proc);
/* its name; NULL: it has none but its address */
const char *content_name(const struct counts_image *m, uint32_t proc);

#endif
