/*
 * functions: procedures with where they begin in the source. Of those without
 * debug information nothing is known here.
 */
#ifndef REPORT_FUNCTIONS_H
#define REPORT_FUNCTIONS_H

#include "base/intern.h"
#include "profile/counts.h"

struct function {
	uint32_t image, proc; /* in counts.image, and its map */
	uint32_t file;	      /* in the caller's names */
	uint32_t line;
};

struct functions {
	VEC(struct function) v; /* by file, line, image, procedure */
};

void functions_make(struct functions *f, const struct counts *t,
		    struct intern *file);
void functions_free(struct functions *f);

#endif
